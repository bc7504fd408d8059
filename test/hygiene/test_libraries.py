# SPDX-License-Identifier: MIT
"""What the two injected libraries show to the program that they are loaded into, against committed lists.

A new exported symbol can clash with one of the application; a new NEEDED entry can pull in a library that the application
has in another version. To accept a change on purpose: python3 test/hygiene/test_libraries.py --update BUILD_DIR
"""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = ("core", "preload")
LOADER = re.compile(r"ld-linux")  # part of glibc; whether it is named depends on the compiler
# Newest symbol version of glibc that may be needed, when built on Debian 12. What newer systems replace in their headers
# (the C23 strto* functions) cannot be avoided when building there.
GLIBC_FLOOR = (2, 35)
REPLACED_BY_HEADERS = re.compile(r"__isoc23_")


def build_dir():
    return pathlib.Path(os.environ["DFT_BUILD_DIR"])


def sanitized():
    cache = (build_dir() / "CMakeCache.txt").read_text()
    return re.search(r"^DFTRACER_(SANITIZE:\w+=.|COVERAGE:\w+=(ON|1)|BUILD_TYPE:\w+=PROFILE)", cache, re.MULTILINE)


def library(name, build=None):
    return (build or build_dir()) / "lib" / f"libdftracer_{name}.so"


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(path, which):
    """(name, version) of the defined or undefined dynamic symbols."""
    for line in output("nm", "-D", f"--{which}-only", path).splitlines():
        name = line.split()[-1]
        if " A " in line:  # the name of a version, no symbol
            continue
        base, _, version = name.partition("@")
        yield base, version.lstrip("@")


def exported(path):
    return sorted({name for name, _ in symbols(path, "defined")})


def needed(path):
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", path))
    return sorted(name for name in names if not LOADER.match(name))


KINDS = {"exports": exported, "needed": needed}


# What a build with CUDA tracing exports beyond the rest: NVIDIA's driver and NVTX call these by name.
CUDA_EXPORTS = {"InitializeInjection", "InitializeInjectionNvtx2"}
# And with HIP tracing: rocprofiler-sdk and librocprofiler-register look for these.
HIP_EXPORTS = {"rocprofiler_configure", "rocprofiler_set_api_table"}


def committed(name, kind):
    lines = (HERE / f"{name}.{kind}").read_text().splitlines()
    listed = [line for line in lines if line and not line.startswith("#")]
    header = (build_dir() / "include" / "dftracer" / "dftracer_config.hpp").read_text()
    if (name, kind) == ("core", "exports") and "#define DFTRACER_HAS_CUDA_TRACING 1" in header:
        listed += CUDA_EXPORTS
    if (name, kind) == ("core", "exports") and "#define DFTRACER_HAS_HIP_TRACING 1" in header:
        listed += HIP_EXPORTS
    return listed


def compare(name, kind):
    if sanitized():
        import pytest

        pytest.skip("an instrumented build shows more")
    real, listed = set(KINDS[kind](library(name))), set(committed(name, kind))
    new, gone = sorted(real - listed), sorted(listed - real)
    assert not new and not gone, (
        f"lib dftracer_{name}, {kind}: new: {new}, gone: {gone}. If that is meant: "
        f"python3 test/hygiene/test_libraries.py --update {build_dir()}, and say why in CHANGELOG.md."
    )


def test_core_exports_only_the_listed_names():
    compare("core", "exports")


def test_preload_exports_only_the_listed_names():
    compare("preload", "exports")


def test_core_needs_only_the_listed_libraries():
    compare("core", "needed")


def test_preload_needs_only_the_listed_libraries():
    compare("preload", "needed")


def test_the_cxx_runtime_is_inside():
    if sanitized():
        return
    for name in LIBRARIES:
        assert not {"libstdc++.so.6", "libgcc_s.so.1"} & set(needed(library(name)))
        leaked = [s for s, _ in symbols(library(name), "undefined") if re.match(r"_ZNS?t|_ZS|__cxa_(throw|begin)", s)]
        assert not leaked, leaked


def test_no_private_and_no_too_new_symbol_of_glibc_is_used():
    if sanitized():
        return
    for name in LIBRARIES:
        for symbol, version in symbols(library(name), "undefined"):
            assert "GLIBC_PRIVATE" not in version, symbol
            match = re.match(r"GLIBC_(\d+)\.(\d+)", version)
            if match and not REPLACED_BY_HEADERS.match(symbol):
                assert tuple(map(int, match.groups())) <= GLIBC_FLOOR, f"{symbol}@{version} in dftracer_{name}"


def test_there_is_one_recorder():
    text = output("nm", "-C", library("preload"))
    copies = [line for line in text.splitlines() if re.search(r" [tTbBdDrR] dft::(record|write|session)::", line)]
    assert not copies, f"libdftracer_preload has a copy of what lives in libdftracer_core: {copies[:5]}"


def test_stays_loaded_binds_at_once_and_finds_core_beside_itself():
    for name in LIBRARIES:
        dynamic = output("readelf", "-d", library(name))
        assert re.search(r"FLAGS_1.*NODELETE", dynamic), name
        assert re.search(r"BIND_NOW|FLAGS_1.*NOW", dynamic), name
        assert "TEXTREL" not in dynamic, name
        assert re.search(r"RUNPATH.*\[\$ORIGIN\]", dynamic), name
        assert "Build ID" in output("readelf", "-n", library(name)), name


def test_thread_local_variables_are_few():
    """A library that is loaded late shares some 1,600 bytes of static storage with all others that are."""
    if sanitized():
        return
    for name in LIBRARIES:
        sizes = re.findall(r"TLS +0x\w+ 0x\w+ 0x\w+ 0x\w+ 0x(\w+)", output("readelf", "-lW", library(name)))
        assert sum(int(size, 16) for size in sizes) <= 128, (name, sizes)


def test_the_stack_is_not_executable():
    for name in LIBRARIES:
        assert re.search(r"GNU_STACK(.|\n)*?\bRW\b", output("readelf", "-lW", library(name))), name


def test_the_dbg_names_are_the_same_libraries():
    for name in LIBRARIES:
        other = library(name).with_name(f"libdftracer_{name}_dbg.so")
        assert other.resolve() == library(name).resolve()


def update(build):
    for name in LIBRARIES:
        for kind, read in KINDS.items():
            head = "# SPDX-License-Identifier: MIT\n# Written by test_libraries.py --update.\n"
            (HERE / f"{name}.{kind}").write_text(head + "\n".join(n for n in read(library(name, build)) if n not in CUDA_EXPORTS) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "--update":
        sys.exit("usage: test_libraries.py --update BUILD_DIR")
    update(pathlib.Path(sys.argv[2]))
