# SPDX-License-Identifier: MIT
"""The tables of intercepted functions against the libc of this machine: every function that libc exports stands in
spec/posix.toml or spec/stdio.toml, or is known to have nothing to do with files (libc_other.txt)."""

import os
import pathlib
import re
import subprocess
import tomllib

import pytest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
KINDS = ("regular", "irregular", "elsewhere", "skipped")
TABLES = ("posix", "stdio")


def libc():
    """The path of the libc that this interpreter itself runs on."""
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        path = line.split()[-1]
        if re.search(r"/libc(\.so\.6|-2\.\d+\.so)$", path):
            return path
    pytest.skip("not a glibc system")


def exported(path):
    """Names of the functions that programs can be linked against; data and private symbols are none."""
    text = subprocess.run(["nm", "-D", "--defined-only", path], check=True, capture_output=True, text=True).stdout
    names = set()
    for line in text.splitlines():
        *_, kind, symbol = line.split()
        name, _, version = symbol.partition("@")
        if kind in "TWi" and "PRIVATE" not in version:
            names.add(name)
    return names


def table(name):
    return tomllib.loads((SOURCE / "spec" / f"{name}.toml").read_text())


def listed(name):
    rows = table(name)
    found = []
    for kind in KINDS:
        for row in rows.get(kind, []):
            found += row.get("names", [row.get("fn")])
    return found


def other():
    lines = (HERE / "libc_other.txt").read_text().splitlines()
    return [re.compile(line) for line in lines if line and not line.startswith("#")]


def test_every_function_of_libc_is_in_a_table_or_has_nothing_to_do_with_files():
    known, patterns = {n for t in TABLES for n in listed(t)}, other()
    missing = [n for n in sorted(exported(libc()) - known) if not any(p.fullmatch(n) for p in patterns)]
    assert not missing, (
        f"libc exports functions that no table knows: {missing}. Give each a row in spec/posix.toml or "
        "spec/stdio.toml, or a line in test/hygiene/libc_other.txt when it has nothing to do with files."
    )


def test_no_name_stands_in_two_tables():
    both = set(listed("posix")) & set(listed("stdio"))
    assert not both


@pytest.mark.parametrize("name", TABLES)
def test_what_has_a_row_is_not_also_called_other(name):
    patterns = other()
    hidden = [n for n in listed(name) if any(p.fullmatch(n) for p in patterns)]
    assert not hidden, f"libc_other.txt is too wide: {hidden}"


@pytest.mark.parametrize("name", TABLES)
def test_the_functions_that_are_intercepted_exist(name):
    newer = re.compile(r"__isoc23_|closefrom|close_range|fsopen")  # than the oldest libc that we build on
    exists = exported(libc())
    rows = table(name)
    gone = [r["fn"] for k in ("regular", "irregular") for r in rows[k] if r["fn"] not in exists]
    assert not [n for n in gone if not newer.match(n)]


def test_an_unknown_function_is_found():
    patterns = other()
    for name in ("openat3", "fread_fast", "write_all", "renameat3", "statx2", "pwrite3", "__fputs_chk"):
        assert not any(p.fullmatch(name) for p in patterns), name


def test_the_functions_intercepted_elsewhere_are_there():
    for name in TABLES:
        for row in table(name).get("elsewhere", []):
            text = (SOURCE / row["where"]).read_text()
            for fn in row["names"]:
                assert re.search(rf"\(\d+, {fn}\)|wrap_{fn}\(|DFT_SPAWN\({fn}\)", text), f"{fn} is not in {row['where']}"


def test_each_intercepted_function_is_exported_by_the_preload_library():
    path = pathlib.Path(os.environ["DFT_BUILD_DIR"]) / "lib" / "libdftracer_preload.so"
    wanted = {r["fn"] for t in TABLES for k in ("regular", "irregular") for r in table(t)[k]}
    wanted |= {n for t in TABLES for r in table(t).get("elsewhere", []) for n in r["names"]}
    missing = wanted - exported(path)
    assert not missing


# Linked in with libyaml (its reader of FILEs) and the C++ runtime (its terminate handler), and not called by us.
NOT_CALLED = {"ferror", "fputc", "fputs", "fread", "fwrite"}
# In the application's stead, where it cannot any more: the end of a forked child that HIP would crash.
FOR_THE_APPLICATION = {"fflush"}


def test_core_does_not_call_what_is_intercepted():
    path = pathlib.Path(os.environ["DFT_BUILD_DIR"]) / "lib" / "libdftracer_core.so"
    text = subprocess.run(["nm", "-D", "--undefined-only", path], check=True, capture_output=True, text=True).stdout
    called = {line.split()[-1].partition("@")[0] for line in text.splitlines()}
    wanted = {r["fn"] for t in TABLES for k in ("regular", "irregular") for r in table(t)[k]}
    assert not (called & wanted) - NOT_CALLED - FOR_THE_APPLICATION
