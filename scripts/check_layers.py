#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the source tree against layers.toml: include arrows, third-party headers, include budgets, file heads and sizes.

Prints one line per finding, "file:line: what"; the exit status is 1 when there is an error. Files and functions above
the aim, but under the stop, are counted only (--aims lists them).
"""

import argparse
import pathlib
import re
import sys
import tomllib

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
HEADERS = {".h", ".hpp"}
SOURCES = {".cc", ".cpp", ".c"} | HEADERS
FUNCTION_HEAD = re.compile(r"^( *)(?![ }#/*])(?!(?:namespace|class|struct|enum|union|extern|typedef)\b)[^=;]*\).*\{$")
BLOCK_WORDS = re.compile(r"^ *(?:\} *)?(?:if|for|while|switch|else|do|try|catch)\b")


class Tree:
    def __init__(self, root):
        self.root = root
        self.rules = tomllib.loads((root / "layers.toml").read_text())
        self.layers = self.rules["layers"]
        self.findings = []
        self.over_aim = []

    def find(self, path, line, what):
        self.findings.append(f"{path.relative_to(self.root)}:{line}: {what}")

    def files(self):
        for top in ("src", "include", "examples", "bench"):
            for path in sorted((self.root / top).rglob("*")):
                if path.suffix in SOURCES and path.is_file():
                    yield path

    def layer_of(self, name):
        """The layer that a path under src/ belongs to: the longest key of [layers] that it lies in."""
        fits = [layer for layer in self.layers if name == layer or name.startswith(layer + "/")]
        return max(fits, key=len, default=None)

    def resolve(self, kind, name):
        """Where an include of the project points to, or None for a system or third-party header."""
        for top in ("src", "include"):
            if (self.root / top / name).is_file():
                return top, self.root / top / name
        if kind == '"' and self.layer_of(name):
            return "src", self.root / "src" / name
        return None, None


def includes(path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def is_test(path):
    return path.stem.endswith(("_test", "_fuzz", "_bench")) or path.name.startswith("fake_")


def check_arrows(tree, path):
    name = path.relative_to(tree.root).as_posix()
    own = tree.layer_of(name[4:]) if name.startswith("src/") else None
    if name.startswith("src/") and own is None:
        tree.find(path, 1, "lies in no layer of layers.toml")
        return
    for number, kind, target in includes(path):
        top, found = tree.resolve(kind, target)
        if top == "src":
            theirs = tree.layer_of(target)
            if name.startswith("include/"):
                tree.find(path, number, f"a public header includes the private {target}")
            elif own and theirs != own and theirs not in tree.layers[own]:
                tree.find(path, number, f"{own} may not include {theirs} ({target}); layers.toml has the arrows")
        elif top == "include" and own and own not in tree.rules["public"]["users"] and "dftracer_config" not in target:
            tree.find(path, number, f"{own} may not include the public {target}")
        elif found is None:
            check_vendor(tree, path, number, target)


def check_vendor(tree, path, number, target):
    folder = path.relative_to(tree.root).as_posix()
    for prefix, allowed in tree.rules["vendor"].items():
        if target.startswith(prefix) and not any(folder.startswith(place + "/") for place in allowed):
            if not is_test(path):
                tree.find(path, number, f"{target} may be included in {', '.join(allowed)} only")


def check_budgets(tree):
    for name, budget in tree.rules.get("budget", {}).items():
        start = tree.root / name
        if not start.is_file():
            tree.findings.append(f"layers.toml: budget for {name}, which does not exist")
            continue
        seen, waiting = {start}, [start]
        while waiting:
            path = waiting.pop()
            for number, kind, target in includes(path):
                _, found = tree.resolve(kind, target)
                if found is None:
                    if target not in budget["system"]:
                        tree.find(path, number, f"<{target}> is outside the include budget of {name}")
                    continue
                layer = tree.layer_of(target)
                if layer not in budget["layers"] and found.parent != start.parent:
                    tree.find(path, number, f"{target} is outside the include budget of {name}")
                elif found not in seen and found.is_file():
                    seen.add(found)
                    waiting.append(found)


def functions(lines):
    """(first line, length, head) of each function, by the layout that clang-format gives: the closing brace stands
    alone at the indentation of the head."""
    at = 0
    while at < len(lines):
        match = FUNCTION_HEAD.match(lines[at])
        if match and not BLOCK_WORDS.match(lines[at]):
            closing = match.group(1) + "}"
            end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith(closing)), at)
            yield at + 1, end - at + 1, lines[at].strip()
            at = end
        at += 1


def check_shape(tree, path):
    text = path.read_text(errors="replace")
    lines = text.splitlines()
    size = tree.rules["size"]
    if not any("SPDX-License-Identifier: MIT" in line for line in lines[:3]):
        tree.find(path, 1, "no SPDX-License-Identifier: MIT in the first lines")
    installed_or_ours = path.relative_to(tree.root).parts[0] in ("src", "include")
    if path.suffix in HEADERS and installed_or_ours and not any(line.strip() == "#pragma once" for line in lines):
        # An installed header may be reached by two paths, which #pragma once takes for two files.
        if not (path.is_relative_to(tree.root / "include") and any(line.startswith("#ifndef DFTRACER_") for line in lines)):
            tree.find(path, 1, "no #pragma once")
    if ".gen." in path.name:
        return
    if len(lines) > size["file_stop"]:
        tree.find(path, 1, f"{len(lines)} lines; the stop is {size['file_stop']}")
    elif len(lines) > size["file_aim"]:
        tree.over_aim.append(f"{path.relative_to(tree.root)}: {len(lines)} lines (aim {size['file_aim']})")
    for number, length, head in functions(lines):
        if length > size["function_stop"]:
            tree.find(path, number, f"function of {length} lines; the stop is {size['function_stop']}: {head}")
        elif length > size["function_aim"]:
            tree.over_aim.append(f"{path.relative_to(tree.root)}:{number}: function of {length} lines: {head}")


def check_acyclic(tree):
    done = set()

    def walk(layer, way):
        if layer in way:
            tree.findings.append("layers.toml: circle " + " -> ".join([*way, layer]))
        elif layer not in done:
            for other in tree.layers.get(layer, []):
                walk(other, [*way, layer])
            done.add(layer)

    for layer in tree.layers:
        walk(layer, [])


def check(root):
    tree = Tree(root)
    check_acyclic(tree)
    for path in tree.files():
        if path.relative_to(root).parts[0] in ("src", "include"):
            check_arrows(tree, path)
        check_shape(tree, path)
    check_budgets(tree)
    return tree


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    parser.add_argument("--aims", action="store_true", help="list what is above the aim but under the stop")
    args = parser.parse_args()
    tree = check(args.root.resolve())
    print(*tree.findings, sep="\n", end="\n" if tree.findings else "")
    if args.aims:
        print(*tree.over_aim, sep="\n")
    print(f"layers: {len(tree.findings)} errors, {len(tree.over_aim)} above the aim")
    return 1 if tree.findings else 0


if __name__ == "__main__":
    sys.exit(main())
