# SPDX-License-Identifier: MIT
"""The public headers: every language standard and compiler that is here, strict warnings, and DFTRACER_DISABLE."""

import itertools
import os
import re
import shutil
import subprocess

import harness
import pytest

PROGRAMS = harness.SOURCE / "test" / "api" / "programs"
INCLUDE = [f"-I{harness.SOURCE}/include", f"-I{harness.SOURCE}/test/support"]
STRICT = "-Wall -Wextra -pedantic -pedantic-errors -Wshadow -Wconversion -Wundef -Werror".split()
STRICT_C = [*STRICT, "-Wstrict-prototypes", "-Wmissing-prototypes"]
STRICT_CXX = [*STRICT, "-Wold-style-cast", "-Wnon-virtual-dtor", "-Wzero-as-null-pointer-constant"]

C_COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]
CXX_COMPILERS = [c for c in ("g++", "clang++") if shutil.which(c)]
C_STANDARDS = ["c99", "c11"]
CXX_STANDARDS = ["c++11", "c++17", "c++20"]
SHAPES = {"on": [], "off": ["-DDFTRACER_DISABLE"]}


def compile_object(folder, compiler, name, *flags):
    target = folder / f"{name}.o"
    done = subprocess.run(
        [compiler, *flags, *INCLUDE, "-c", str(PROGRAMS / name), "-o", str(target)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return target


def undefined_and_defined(target):
    return subprocess.run(["nm", "-C", str(target)], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("compiler,standard", list(itertools.product(C_COMPILERS, C_STANDARDS)))
@pytest.mark.parametrize("name", ["every_macro.c", "old_names.c", "own_finalize.c", "same_signature.c", "inline_functions.c"])
def test_c_compiles_without_a_warning(tmp_path, compiler, standard, shape, name):
    compile_object(tmp_path, compiler, name, f"-std={standard}", "-O2", *STRICT_C, *SHAPES[shape])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("compiler,standard", list(itertools.product(CXX_COMPILERS, CXX_STANDARDS)))
@pytest.mark.parametrize("name", ["every_macro.cc", "in_extern_c.cc"])
def test_cxx_compiles_without_a_warning(tmp_path, compiler, standard, shape, name):
    compile_object(tmp_path, compiler, name, f"-std={standard}", "-O2", *STRICT_CXX, *SHAPES[shape])


@pytest.mark.parametrize("optimisation", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_helpers_are_inlined_in_every_build(tmp_path, compiler, optimisation):
    """The helpers of the C macros exist only inlined: one that is called would be missing at the link."""
    for name in ("every_macro.c", "inline_functions.c"):
        target = compile_object(tmp_path, compiler, name, optimisation, "-std=c99")
        assert "dftracer_inline_" not in undefined_and_defined(target)


@pytest.mark.parametrize("compiler", CXX_COMPILERS)
def test_cxx_without_exceptions_and_rtti_compiles(tmp_path, compiler):
    compile_object(tmp_path, compiler, "in_extern_c.cc", "-std=c++11", "-fno-exceptions", "-fno-rtti", *STRICT_CXX)


@pytest.mark.parametrize("compiler", CXX_COMPILERS)
def test_c_macros_compile_as_cxx(tmp_path, compiler):
    compile_object(tmp_path, compiler, "every_macro.c", "-xc++", "-std=c++11", *STRICT)


@pytest.mark.parametrize("header", ["dftracer.h", "dftracer.hpp", "dftracer_macros.h", "dftracer_site.h"])
@pytest.mark.parametrize("compiler", C_COMPILERS + CXX_COMPILERS)
def test_each_header_stands_alone(tmp_path, compiler, header):
    cxx = compiler in CXX_COMPILERS
    if header.endswith("hpp") and not cxx:
        pytest.skip("a C++ header")
    source = tmp_path / ("alone.cc" if cxx else "alone.c")
    source.write_text(f"#include <dftracer/{header}>\n#include <dftracer/{header}>\nint alone;\n")
    line = [compiler, *STRICT, *INCLUDE, "-c", str(source), "-o", str(tmp_path / "alone.o")]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_headers_need_nothing_private():
    for header in (harness.SOURCE / "include" / "dftracer").iterdir():
        for name in re.findall(r'#include [<"]([^>"]+)[>"]', header.read_text()):
            allowed = name.startswith("dftracer/dftracer") or re.fullmatch(r"[a-z_]+(\.h)?", name)
            assert allowed, f"{header.name} includes {name}"


@pytest.mark.parametrize("optimisation", ["-O0", "-O2"])
@pytest.mark.parametrize("name", ["every_macro.c", "every_macro.cc"])
def test_disabled_programs_need_no_library(tmp_path, name, optimisation):
    for compiler in CXX_COMPILERS if name.endswith("cc") else C_COMPILERS:
        target = compile_object(tmp_path, compiler, name, optimisation, "-DDFTRACER_DISABLE")
        # What is left may be the disabled class itself, at -O0.
        left = [s for s in undefined_and_defined(target).splitlines() if re.search(r"\bdftracer_\w+(\(|$)", s) and " U " in s]
        assert not left, left
        program = tmp_path / f"{compiler}-program"
        subprocess.run([compiler, str(target), "-o", str(program)], check=True)
        assert subprocess.run([str(program)], capture_output=True).returncode == 0
    assert "dftracer" not in subprocess.run(["nm", "-D", str(program)], capture_output=True, text=True).stdout


@pytest.mark.parametrize("name", ["disabled_pair.c", "disabled_pair.cc"])
def test_disabled_macros_are_no_instructions(tmp_path, name):
    for compiler in CXX_COMPILERS if name.endswith("cc") else C_COMPILERS:
        target = compile_object(tmp_path, compiler, name, "-O2", "-fno-asynchronous-unwind-tables", "-DDFTRACER_DISABLE")
        assert "dftracer" not in undefined_and_defined(target).lower()
        code = function_code(target)
        assert code["annotated"] == code["bare"], f"{compiler}: {code}"


def function_code(target):
    """function name -> its instructions, without addresses."""
    listing = subprocess.run(
        ["objdump", "-dr", "--no-show-raw-insn", str(target)], capture_output=True, text=True, check=True
    ).stdout
    functions, current = {}, None
    for line in listing.splitlines():
        if head := re.fullmatch(r"[0-9a-f]+ <(\w+)>:", line):
            current = functions.setdefault(head.group(1), [])
        elif current is not None and (text := re.match(r"\s*[0-9a-f]+:\s*(.*)", line)):
            instruction = re.sub(r"[0-9a-f]+ <\w+\+0x[0-9a-f]+>", "there", text.group(1)).strip()
            if not re.match(r"(nop|xchg +%ax|data16|cs nop)", instruction):
                current.append(instruction)
    return functions


@pytest.mark.parametrize("compiler", CXX_COMPILERS)
def test_off_is_one_load_and_one_branch_without_a_call(tmp_path, compiler):
    source = tmp_path / "off.cc"
    source.write_text(
        "#include <dftracer/dftracer.h>\n"
        'extern "C" void instant() { DFTRACER_C_INSTANT(now); }\n'
    )
    target = tmp_path / "off.o"
    subprocess.run([compiler, "-O2", *INCLUDE, "-c", str(source), "-o", str(target)], check=True)
    code = function_code(target)["instant"]
    assert sum("dftracer_on" in i for i in code) == 1, code
    until_return = list(itertools.takewhile(lambda i: not i.startswith("ret"), code))
    assert len([i for i in until_return if not i.startswith("R_")]) <= 4, code
    assert not any(i.startswith("call") for i in until_return), code


def test_compilers_are_here():
    """The matrix is empty without them, and an empty matrix would pass."""
    assert C_COMPILERS and CXX_COMPILERS
    if os.environ.get("CI") == "1":
        assert "clang" in C_COMPILERS and "gcc" in C_COMPILERS


def examples_of(document):
    text = (harness.SOURCE / "docs" / document).read_text()
    return re.findall(r"```(c|cpp)\n(.*?)```", text, re.S)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_documents_examples_compile(tmp_path, shape):
    examples = examples_of("api.md")
    assert len(examples) >= 5
    for number, (language, code) in enumerate(examples):
        source = tmp_path / f"example{number}.{language}"
        source.write_text(code)
        strict = ["-Wall", "-Wextra", "-pedantic", "-Wshadow", "-Werror"]
        # An example that calls the functions by themselves compiles in both shapes, too.
        line = ["g++" if language == "cpp" else "gcc", *strict, *SHAPES[shape], *INCLUDE, "-c", str(source), "-o", "/dev/null"]
        done = subprocess.run(line, capture_output=True, text=True)
        assert done.returncode == 0, f"{code}\n{done.stderr}"


def test_every_macro_and_function_is_documented():
    text = (harness.SOURCE / "docs" / "api.md").read_text()
    folder = harness.SOURCE / "include" / "dftracer"
    names = set()
    for header in ("dftracer_macros.h", "dftracer.hpp"):
        names |= set(re.findall(r"#define (DFTRACER_C(?:PP)?_[A-Z_0-9]*[A-Z0-9])\b", (folder / header).read_text()))
    missing = [n for n in sorted(names) if n not in text and not documented_in_short(n, text)]
    assert not missing


def documented_in_short(name, text):
    """Rows of one kind are written `..._UPDATE_INT64(...)`."""
    short = re.sub(r"^DFTRACER_C(PP)?_(FUNCTION|REGION)", "...", name)
    return f"{short}(" in text or f"{short.replace('_UPDATE', '_DYN_UPDATE')}(" in text
