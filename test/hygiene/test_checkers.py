# SPDX-License-Identifier: MIT
"""The checkers themselves: each finds what it is for, in a small tree made for it, and is quiet on a clean one."""

import pathlib
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
HEAD = "// SPDX-License-Identifier: MIT\n"


@pytest.fixture
def tree(tmp_path):
    for folder in ("src/base", "src/model", "src/record", "src/write", "src/tools", "include/dftracer"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "layers.toml").write_text((SOURCE / "layers.toml").read_text())
    put(tmp_path, "src/base/clock.h", "#pragma once\n")
    put(tmp_path, "src/record/emit.h", '#pragma once\n#include <cstdint>\n#include "base/clock.h"\n')
    return tmp_path


def put(tree, name, text):
    (tree / name).write_text(HEAD + text)


def run(script, tree):
    done = subprocess.run([sys.executable, SOURCE / "scripts" / script, "--root", tree], capture_output=True, text=True)
    return done.returncode, done.stdout


def layers_find(tree, what):
    status, text = run("check_layers.py", tree)
    assert status == 1 and what in text, text


def test_a_clean_tree_passes(tree):
    assert run("check_layers.py", tree)[0] == 0
    assert run("check_banned.py", tree)[0] == 0


@pytest.mark.parametrize(
    "name, text, what",
    [
        ("src/base/a.cc", '#include "record/emit.h"\n', "base may not include record"),
        ("src/model/a.cc", '#include "write/none_yet.h"\n', "model may not include write"),
        ("src/base/a.cc", '#include "dftracer/x.h"\n', ""),
        ("include/dftracer/x.h", '#pragma once\n#include "base/clock.h"\n', "public header includes the private"),
        ("src/base/a.cc", "#include <yaml.h>\n", "yaml.h may be included in src/config only"),
        ("src/base/a.h", "int a();\n", "no #pragma once"),
        ("src/stray.cc", "int a;\n", "lies in no layer"),
        ("src/base/a.cc", "int a;\n" * 601, "602 lines; the stop is 600"),
        ("src/base/a.cc", "int a() {\n" + "  b();\n" * 80 + "}\n", "function of 82 lines"),
    ],
)
def test_an_offence_is_found(tree, name, text, what):
    if not what:
        put(tree, "include/dftracer/x.h", "#pragma once\n")
        what = "base may not include the public"
    put(tree, name, text)
    layers_find(tree, what)


def test_a_missing_licence_line_is_found(tree):
    (tree / "src/base/a.cc").write_text("int a;\n")
    layers_find(tree, "no SPDX-License-Identifier")


def test_the_budget_of_the_hot_path_holds_through_other_headers(tree):
    put(tree, "src/base/clock.h", "#pragma once\n#include <mutex>\n")
    layers_find(tree, "<mutex> is outside the include budget of src/record/emit.h")


def test_generated_files_may_be_long(tree):
    put(tree, "src/base/a.gen.cc", "int a;\n" * 2000)
    assert run("check_layers.py", tree)[0] == 0


@pytest.mark.parametrize(
    "name, line, rule",
    [
        ("src/record/a.cc", "void* p = malloc(8);", "heap"),
        ("src/write/a.cc", "auto* p = new Chunk;", "heap"),
        ("src/write/a.cc", "std::string s;", "heap"),
        ("src/base/a.cc", 'fprintf(stderr, "x");', "stderr"),
        ("src/record/a.cc", 'getenv("X");', "getenv"),
        ("src/write/a.cc", "#include <unistd.h>\nvoid w() { ::write(fd, p, n); }", "libc-io"),
        ("src/write/a.cc", "#include <fcntl.h>\nint f = open(path, 0);", "libc-io"),
        ("src/record/a.cc", "std::mutex m;", "lock"),
        ("src/base/a.cc", "usleep(5);", "sleep"),
    ],
)
def test_a_banned_call_is_found_and_can_be_allowed_with_a_reason(tree, name, line, rule):
    put(tree, name, line + "\n")
    status, text = run("check_banned.py", tree)
    assert status == 1 and f"({rule})" in text, text
    *before, last = line.split("\n")
    put(tree, name, "\n".join([*before, f"// dft-allow({rule}): the test says so", last, ""]))
    assert run("check_banned.py", tree)[0] == 0
    put(tree, name, "\n".join([*before, f"// dft-allow({rule}):", last, ""]))
    assert run("check_banned.py", tree)[0] == 1


@pytest.mark.parametrize(
    "line", ["std::string_view s;", "::new (place) Chunk;", "if (open(region)) close(region);", "raw::write(fd, p, n);", "file.open(p);", "// malloc(8)", 'log("malloc(8)");']
)
def test_what_only_looks_like_one_passes(tree, line):
    put(tree, "src/write/a.cc", line + "\n")
    assert run("check_banned.py", tree)[0] == 0
