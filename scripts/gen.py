#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns the facts in spec/*.toml into source and documentation.

    scripts/gen.py           writes what is stale
    scripts/gen.py --check   writes nothing; exit status 1 and the names of the stale files

A spec NAME.toml has a module scripts/generators/NAME.py with one function `generate(spec) -> list[Output]`. A new spec
is one file in each of the two folders; nothing here changes.
"""

import argparse
import importlib
import pathlib
import sys
import tomllib

SCRIPTS = pathlib.Path(__file__).resolve().parent
ROOT = SCRIPTS.parent
sys.path.insert(0, str(SCRIPTS))
sys.dont_write_bytecode = True

from generators.output import SpecError  # noqa: E402


def outputs(spec_path):
    with spec_path.open("rb") as file:
        spec = tomllib.load(file)
    return importlib.import_module(f"generators.{spec_path.stem}").generate(spec)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail when a generated file is stale")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="repository to work on (default: this one)")
    args = parser.parse_args()

    stale = []
    for spec_path in sorted((args.root / "spec").glob("*.toml")):
        try:
            for output in outputs(spec_path):
                if output.apply(args.root, write=not args.check):
                    stale.append(output.path)
        except (SpecError, tomllib.TOMLDecodeError) as error:
            print(f"{spec_path}: {error}", file=sys.stderr)
            return 2
    for path in stale:
        print(f"stale: {path} (run scripts/gen.py)" if args.check else f"written: {path}")
    return 1 if args.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
