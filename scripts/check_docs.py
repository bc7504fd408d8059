#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the documents against the tree: paths that they name exist, links lead somewhere, flags of ./autobuild.sh, names of
gates, presets and build options are real, and C and C++ samples compile.

A path is anything in backticks or in a link that begins with a folder or file of the repository's top. A sample is a
block marked ```c or ```cpp; it is compiled as a whole file, or as the body of a function when it has no #include.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"-D(DFTRACER_\w+)")


def documents(root):
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "bench/**/*.md"):
        yield from sorted(root.glob(pattern))


class Checker:
    def __init__(self, root):
        self.root = root
        self.findings = []
        tracked = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True).stdout.split("\n")
        self.tops = {name.split("/")[0] for name in tracked if name}
        self.autobuild = (root / "autobuild.sh").read_text()
        places = [root / "cmake/options.cmake", *root.glob("bench/CMakeLists.txt")]
        self.options = "".join(path.read_text() for path in places)
        self.gates = (root / "scripts/gates").read_text()
        self.presets = (root / "CMakePresets.json").read_text()

    def find(self, document, text, at, what):
        line = text.count("\n", 0, at) + 1
        self.findings.append(f"{document.relative_to(self.root)}:{line}: {what}")

    def check_paths(self, document, text):
        for match in CODE.finditer(text):
            words = match.group(1).split()
            for word in words[:1] if len(words) == 1 else words:
                name = word.removeprefix("./").rstrip("/.,:;")
                if name.split("/")[0] in self.tops and ("/" in name or "." in name) and not re.search(r"[*<>{}$=]", name):
                    if not (self.root / name).exists():
                        self.find(document, text, match.start(), f"{name} does not exist")
        for match in LINK.finditer(text):
            target = match.group(1)
            if not re.match(r"[a-z]+:", target) and not (document.parent / target).exists():
                self.find(document, text, match.start(), f"the link to {target} leads nowhere")

    def check_commands(self, document, text):
        for match in re.finditer(r"autobuild\.sh((?: +-{1,2}[\w-]+(?:[= ]\w\S*)?)+)", text):
            for flag in re.findall(r"--[\w-]+", match.group(1)):
                if not re.search(re.escape(flag) + r"\b", self.autobuild):
                    self.find(document, text, match.start(), f"autobuild.sh has no flag {flag}")
        for match in re.finditer(r"scripts/gates((?: +[a-z]+\b)+)`", text):
            for name in match.group(1).split():
                if f"gate_{name}()" not in self.gates:
                    self.find(document, text, match.start(), f"there is no gate {name}")
        for match in re.finditer(r"--preset[ =](\w+)", text):
            if f'"name": "{match.group(1)}"' not in self.presets:
                self.find(document, text, match.start(), f"there is no preset {match.group(1)}")
        for match in OPTION.finditer(text):
            if match.group(1) not in self.options:
                self.find(document, text, match.start(), f"there is no build option {match.group(1)}")

    def check_samples(self, document, text):
        for match in BLOCK.finditer(text):
            language, code = match.groups()
            if language not in ("c", "cpp"):
                continue
            compiler = ["cc", "-std=c99", "-xc"] if language == "c" else ["c++", "-std=c++11", "-xc++"]
            header = "dftracer.h" if language == "c" else "dftracer.hpp"
            if "#include" not in code:
                code = f"#include <dftracer/{header}>\nvoid sample(void);\nvoid sample(void) {{\n{code}\n}}\n"
            with tempfile.TemporaryDirectory() as folder:
                self.compile(document, text, match.start(), compiler, code, folder)

    def compile(self, document, text, at, compiler, code, folder):
        config = pathlib.Path(folder) / "dftracer/dftracer_config.hpp"
        config.parent.mkdir()
        config.write_text("#pragma once\n#define DFTRACER_VERSION \"0\"\n")
        done = subprocess.run([*compiler, "-fsyntax-only", "-Wall", "-Werror", f"-I{self.root}/include", f"-I{folder}", "-"],
                              input=code, capture_output=True, text=True)
        if done.returncode != 0:
            first = next((l for l in done.stderr.splitlines() if "error" in l), done.stderr)
            self.find(document, text, at, f"the sample does not compile: {first}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    checker = Checker(parser.parse_args().root.resolve())
    count = 0
    for document in documents(checker.root):
        text = document.read_text()
        checker.check_paths(document, text)
        checker.check_commands(document, text)
        checker.check_samples(document, text)
        count += 1
    print(*checker.findings, sep="\n", end="\n" if checker.findings else "")
    print(f"documents: {count} read, {len(checker.findings)} errors")
    return 1 if checker.findings else 0


if __name__ == "__main__":
    sys.exit(main())
