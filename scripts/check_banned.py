#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks for the calls that layers.toml bans, each with its reason. Tests, fuzzers and generated files are exempt.

A line that must have such a call says why, on itself or on the line above: // dft-allow(rule): reason
"""

import argparse
import pathlib
import re
import sys
import tomllib

ALLOW = re.compile(r"dft-allow\(([\w-]+)\):\s*\S")
COMMENT = re.compile(r"//.*$|/\*.*?\*/|^\s*\*.*$")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
SUFFIXES = {".h", ".hpp", ".cc", ".cpp", ".c"}


def in_any(name, places):
    return any(name == place or name.startswith(place + "/") for place in places)


def exempt(path):
    return path.stem.endswith(("_test", "_fuzz", "_bench")) or path.name.startswith("fake_") or ".gen." in path.name


def lines_of(text):
    """(number, code without comments and strings, rules allowed here)"""
    before = set()
    for number, line in enumerate(text.splitlines(), 1):
        here = set(ALLOW.findall(line))
        code = COMMENT.sub("", STRING.sub('""', line))
        yield number, code, here | before
        before = here if not code.strip() else set()


def applies(rule, name, text):
    if not in_any(name, rule["paths"]) or in_any(name, rule.get("except", [])):
        return False
    return "includes" not in rule or any(f"#include <{header}>" in text for header in rule["includes"])


def check(root):
    rules = tomllib.loads((root / "layers.toml").read_text())["banned"]
    for rule in rules:
        rule["regex"] = re.compile(rule["pattern"])
    findings = []
    for top in ("src", "include"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES or exempt(path):
                continue
            name = path.relative_to(root).as_posix()
            text = path.read_text(errors="replace")
            wanted = [rule for rule in rules if applies(rule, name, text)]
            for number, code, allowed in lines_of(text):
                for rule in wanted:
                    match = rule["regex"].search(code)
                    if match and rule["rule"] not in allowed and not code.lstrip().startswith("#include"):
                        call = match.group(0).strip()
                        findings.append(f"{name}:{number}: {call}: banned ({rule['rule']}): {rule['reason']}")
    return findings


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    findings = check(parser.parse_args().root.resolve())
    print(*findings, sep="\n", end="\n" if findings else "")
    print(f"banned calls: {len(findings)}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
