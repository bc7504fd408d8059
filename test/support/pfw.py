# SPDX-License-Identifier: MIT
"""Strict reader of trace files, for tests. Shares no code with the product, so that both cannot be wrong alike.

    trace = pfw.read("x.pfw.gz")          # or pfw.read_all(folder): every trace in it, in order of name
    trace.events                          # COMPLETE records but `start` and `end`
    trace.named("foo")                    # those of one name
    trace.metadata("CM")                  # METADATA records of one name
    trace.end["args"]["app"]              # life-cycle events; None when absent

Everything a tolerant reader would forgive raises TraceError here: bytes that are not UTF-8, NaN or Infinity, a key
twice in one object, a line that is not one JSON object, a missing last newline, a truncated or damaged gzip member,
bytes behind the last member, a `.pfw.gz` that holds no gzip member unless it is empty and `allow_empty` is given.
Run as a program it prints one line a file and exits 1 at the first damaged one.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import sys
import zlib

COMPLETE, COUNTER, AGGREGATED, METADATA = 1, 2, 3, 4
LAYERS = {
    "DFTRACER": 1, "C_APP": 2, "LIBC_IO": 3, "HIP": 4, "HDF5": 5, "PYTHON": 6, "PSUTIL": 7, "FINSTRUMENT": 8,
    "CPP_APP": 9, "MPI": 10, "PAPI": 11, "OMNISTAT": 12, "VARIORUM": 13, "CUDA": 14,
}  # fmt: skip
HASH_RECORDS = ("FH", "HH", "SH")


class TraceError(Exception):
    """What is wrong, with file and line."""


def inflate(data: bytes, where: str = "input") -> tuple[bytes, int]:
    """Uncompressed bytes of a whole multi-member gzip file, and how many members it has."""
    parts: list[bytes] = []
    members = 0
    while data:
        member = zlib.decompressobj(wbits=31)  # gzip only: header, CRC and length are checked
        try:
            parts.append(member.decompress(data))
        except zlib.error as error:
            raise TraceError(f"{where}: gzip member {members + 1}: {error}") from None
        if not member.eof:
            raise TraceError(f"{where}: gzip member {members + 1} is truncated")
        data = member.unused_data
        members += 1
    return b"".join(parts), members


def _unique_keys(pairs):
    result = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"key {key!r} twice in one object")
        result[key] = value
    return result


def _no_constant(text):
    raise ValueError(f"{text} is not JSON")


def parse_line(line: bytes, where: str = "line") -> dict:
    try:
        record = json.loads(line.decode("utf-8"), object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    except ValueError as error:  # includes UnicodeDecodeError
        raise TraceError(f"{where}: {error}: {line[:200]!r}") from None
    if b"\\ud" in line.lower():
        try:
            json.dumps(record, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise TraceError(f"{where}: lone surrogate: {line[:200]!r}") from None
    if not isinstance(record, dict):
        raise TraceError(f"{where}: not an object: {line[:200]!r}")
    return record


@dataclasses.dataclass
class Trace:
    path: pathlib.Path
    records: list[dict]
    lines: list[bytes]
    members: int  # gzip members; 0 for a plain file

    def phase(self, ph: int) -> list[dict]:
        return [r for r in self.records if r.get("ph") == ph]

    def metadata(self, name: str | None = None) -> list[dict]:
        return [r for r in self.phase(METADATA) if name is None or r["name"] == name]

    @property
    def events(self) -> list[dict]:
        return [r for r in self.phase(COMPLETE) if not _is_lifecycle(r)]

    def named(self, name: str) -> list[dict]:
        return [r for r in self.events if r["name"] == name]

    def one(self, name: str) -> dict:
        found = self.named(name)
        if len(found) != 1:
            raise TraceError(f"{self.path}: {len(found)} events named {name!r}, expected one")
        return found[0]

    def _lifecycle(self, name: str) -> dict | None:
        found = [r for r in self.phase(COMPLETE) if _is_lifecycle(r) and r["name"] == name]
        if len(found) > 1:
            raise TraceError(f"{self.path}: {len(found)} `{name}` events")
        return found[0] if found else None

    @property
    def start(self) -> dict | None:
        return self._lifecycle("start")

    @property
    def end(self) -> dict | None:
        return self._lifecycle("end")

    @property
    def app(self) -> dict:
        return self.end["args"]["app"] if self.end else {}

    @property
    def used(self) -> dict:
        return self.end["args"]["used"] if self.end else {}

    @property
    def losses(self) -> list[dict]:
        return self.metadata("loss")

    def resolve(self, digits: str) -> str:
        """The string behind a hash of this file."""
        for record in self.phase(METADATA):
            if record["name"] in HASH_RECORDS and record["args"]["value"] == digits:
                return record["args"]["name"]
        raise TraceError(f"{self.path}: no hash record for {digits}")

    def check(self) -> "Trace":
        """Raises TraceError unless the file keeps the format's promises."""
        _check_records(self)
        return self


def _is_lifecycle(record: dict) -> bool:
    return record.get("cat") == "dftracer" and record.get("name") in ("start", "end")


def _check_records(trace: Trace) -> None:
    last_id = set()
    for number, record in enumerate(trace.records, 1):
        where = f"{trace.path}:{number}"
        keys = _required_keys(record, where)
        for key in keys:
            if key not in record:
                raise TraceError(f"{where}: no {key}: {record}")
        for key in ("id", "type", "pid", "tid", "ts", "dur", "ph"):
            if key in record and (type(record[key]) is not int or record[key] < 0):
                raise TraceError(f"{where}: {key} is {record[key]!r}")
        if "id" in record:
            if record["id"] in last_id:
                raise TraceError(f"{where}: id {record['id']} twice")
            last_id.add(record["id"])
        args = record.get("args")
        if args is not None and next(iter(args), None) != "hhash" and "relations" not in args:
            raise TraceError(f"{where}: hhash is not the first arg: {record}")
    if trace.end is not None and not _is_lifecycle(trace.records[-1]):
        raise TraceError(f"{trace.path}: `end` is not the last record")


def _required_keys(record: dict, where: str) -> tuple[str, ...]:
    ph = record.get("ph")
    if ph == COMPLETE:
        return ("id", "name", "cat", "type", "pid", "tid", "ts", "dur")
    if ph in (COUNTER, AGGREGATED):
        return ("name", "cat", "type", "pid", "tid", "ts")
    if ph == METADATA:
        return ("name", "cat", "type", "pid", "tid", "args")
    raise TraceError(f"{where}: ph is {ph!r}")


def read(path, allow_empty: bool = False) -> Trace:
    path = pathlib.Path(path)
    data = path.read_bytes()
    members = 0
    if path.name.endswith(".gz"):
        if not data and not allow_empty:
            raise TraceError(f"{path}: 0 bytes")
        data, members = inflate(data, str(path))
    if data and not data.endswith(b"\n"):
        raise TraceError(f"{path}: the last line has no newline: {data[-200:]!r}")
    lines = data.split(b"\n")[:-1]
    records = [parse_line(line, f"{path}:{number}") for number, line in enumerate(lines, 1)]
    return Trace(path, records, lines, members)


def traces(folder) -> list[pathlib.Path]:
    return sorted(p for p in pathlib.Path(folder).iterdir() if p.name.endswith((".pfw", ".pfw.gz")))


def read_all(folder, allow_empty: bool = False) -> list[Trace]:
    return [read(path, allow_empty) for path in traces(folder)]


def read_one(folder) -> Trace:
    """The only trace of a folder, checked."""
    found = traces(folder)
    if len(found) != 1:
        raise TraceError(f"{folder}: {len(found)} traces, expected one: {[p.name for p in found]}")
    return read(found[0]).check()


def main(arguments: list[str]) -> int:
    for name in arguments:
        try:
            trace = read(name).check()
        except (OSError, TraceError) as error:
            print(error, file=sys.stderr)
            return 1
        print(f"{name}: {len(trace.records)} records, {len(trace.events)} events, {trace.members} members")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
