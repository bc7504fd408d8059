#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of scripts/gen.py on copies of the files that it reads and writes."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = ["spec/options.toml", "src/config/options.gen.h", "src/config/options.gen.cc", "docs/configuration.md"]


class GenTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in FILES:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)

    def gen(self, *arguments):
        command = [sys.executable, str(ROOT / "scripts/gen.py"), "--root", str(self.root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def edit(self, name, old, new):
        text = (self.root / name).read_text(encoding="utf-8")
        self.assertIn(old, text)
        (self.root / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    def test_committed_files_are_fresh(self):
        result = self.gen("--check")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_check_names_each_stale_file_and_writes_nothing(self):
        self.edit("spec/options.toml", 'default = "64 MiB"', 'default = "32 MiB"')
        before = [(self.root / name).read_bytes() for name in FILES]
        result = self.gen("--check")
        self.assertEqual(result.returncode, 1)
        for name in FILES[1:]:
            self.assertIn(f"stale: {name}", result.stdout)
        self.assertEqual(before, [(self.root / name).read_bytes() for name in FILES])

    def test_check_sees_edited_output(self):
        self.edit("src/config/options.gen.h", "bool enable = false", "bool enable = true")
        self.assertEqual(self.gen("--check").returncode, 1)

    def test_writing_makes_it_fresh_and_keeps_the_handwritten_part(self):
        self.edit("docs/configuration.md", "# Configuration\n", "# Configuration\n\nWritten by hand.\n")
        self.edit("spec/options.toml", 'default = "64 MiB"', 'default = "32 MiB"')
        self.assertEqual(self.gen().returncode, 0)
        self.assertEqual(self.gen("--check").returncode, 0)
        self.assertIn("= 33554432;", (self.root / FILES[1]).read_text(encoding="utf-8"))
        self.assertIn("Written by hand.", (self.root / FILES[3]).read_text(encoding="utf-8"))

    def test_mistakes_in_the_spec_are_named(self):
        mistakes = {
            'default = "64 MiB"': 'default = "64 Mib"',
            'yaml = "internal.clock"': 'yaml = "internal.crash_safe"',
            'values = ["wait", "drop"]': 'values = ["stop", "drop"]',
            'field = "crash_safe"': 'feild = "crash_safe"',
            'type = "size"': 'type = "length"',
            "[foreign]": "[foreign",
        }
        for old, new in mistakes.items():
            with self.subTest(new):
                shutil.copy(ROOT / FILES[0], self.root / FILES[0])
                self.edit(FILES[0], old, new)
                result = self.gen("--check")
                self.assertEqual(result.returncode, 2, result.stdout)
                self.assertIn("options.toml: ", result.stderr)
                self.assertNotIn("Traceback", result.stderr)


if __name__ == "__main__":
    unittest.main()
