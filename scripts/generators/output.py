# SPDX-License-Identifier: MIT
"""What a generator hands back: a whole file, or the part of a file between two marker lines."""

import dataclasses
import json
import pathlib


class SpecError(Exception):
    """The spec says something that cannot be generated; the text names the row."""


@dataclasses.dataclass
class Output:
    path: str
    text: str
    marker: str = ""  # part between `<!-- begin MARKER` and `<!-- end MARKER` (or /* for <!--); empty: the whole file

    def apply(self, root: pathlib.Path, write: bool) -> bool:
        """True when the file differed from what the spec says."""
        target = root / self.path
        old = target.read_text(encoding="utf-8") if target.exists() else None
        new = self.text if not self.marker else self._spliced(old)
        if old == new:
            return False
        if write:
            target.write_text(new, encoding="utf-8")
        return True

    def _marks(self, line, word):
        return line.strip().startswith((f"<!-- {word} {self.marker}", f"/* {word} {self.marker}"))

    def _spliced(self, old):
        if old is None:
            raise SpecError(f"{self.path} does not exist")
        lines = old.splitlines(keepends=True)
        begin, end = ([i for i, line in enumerate(lines) if self._marks(line, word)] for word in ("begin", "end"))
        if len(begin) != 1 or len(end) != 1 or begin[0] > end[0]:
            raise SpecError(f"{self.path} has not exactly one pair of markers {self.marker}")
        return "".join(lines[: begin[0] + 1]) + self.text + "".join(lines[end[0] :])


def c_string(text: str) -> str:
    """A C++ string literal for ASCII text."""
    if not text.isascii():
        raise SpecError(f"not ASCII: {text!r}")
    return json.dumps(text)
