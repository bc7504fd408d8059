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


IO_SPECS = ["spec/posix.toml", "spec/stdio.toml"]
IO_FILES = [
    f"{folder}/{stem}{tail}"
    for stem in ("posix", "stdio")
    for folder, tail in (("src/sources/io", ".gen.h"), ("src/sources/io", ".gen.cc"), ("src/preload", "_names.gen.cc"))
]


class IoTablesTest(GenTest):
    """The same promises for the tables of intercepted functions, and those of their own."""

    def setUp(self):
        super().setUp()
        for name in IO_SPECS + IO_FILES:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def test_a_row_becomes_wrapper_binding_and_exported_name(self):
        row = '{ fn = "fsync2", op = "fsync", sig = "int(int fd, long how)", on = "fd", args = "how" },\n'
        self.edit(IO_SPECS[0], "regular = [\n", "regular = [\n  " + row)
        self.assertEqual(self.gen("--check").returncode, 1)
        self.assertEqual(self.gen().returncode, 0)
        source = self.text("src/sources/io/posix.gen.cc")
        self.assertIn("int wrap_fsync2(int fd, long how) {\n  return on_fd(fn_fsync2, fd, ", source)
        self.assertIn('{"fsync2", "fsync", "fsync2", kCategory, kHasRet, kArgs_fsync2, 1}', source)
        self.assertIn('{"fsync2", nullptr, reinterpret_cast<void*>(&dft::io::wrap_fsync2)', source)
        self.assertIn('DFT_IO_NAME("fsync2", "dftracer_posix_bindings", "16")', self.text(IO_FILES[2]))

    def test_mistakes_in_a_row_are_named(self):
        read = 'fn = "read", sig = "ssize_t(int fd, void* buf, size_t count)", on = "fd", args = "count"'
        mistakes = {
            read: [
                read.replace('"count"', '"size"'),
                read.replace('on = "fd"', 'on = "file"'),
                read.replace("sig", "signature"),
                read.replace('"read"', '"write"'),
                read + ', fails = "sometimes"',
                read.replace("size_t count)", "...)"),
                read.replace("ssize_t(int", "ssize_t int"),
            ],
            'why = "as open"': ['why = ""'],
        }
        for old, news in mistakes.items():
            for new in news:
                with self.subTest(new):
                    shutil.copy(ROOT / IO_SPECS[0], self.root / IO_SPECS[0])
                    self.edit(IO_SPECS[0], old, new)
                    result = self.gen("--check")
                    self.assertEqual(result.returncode, 2, result.stdout)
                    self.assertIn("posix.toml: ", result.stderr)
                    self.assertNotIn("Traceback", result.stderr)


if __name__ == "__main__":
    unittest.main()
