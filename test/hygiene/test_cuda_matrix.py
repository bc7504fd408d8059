# SPDX-License-Identifier: MIT
"""The matrix over CUPTI's releases finds headers that do not come from the wheels, and says which release it names."""

import importlib.util
import pathlib

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("cuda_matrix", SOURCE / "scripts/cuda_matrix.py")
matrix = importlib.util.module_from_spec(spec)
spec.loader.exec_module(matrix)


def strangers(tmp_path, *headers):
    root = tmp_path / "wheels"
    for name in ("cupti.h", "cuda.h", "cuda_stdint.h"):
        (root / "nvidia/include").mkdir(parents=True, exist_ok=True)
        (root / "nvidia/include" / name).touch()
    file = tmp_path / "dependencies"
    file.write_text("x.o: x.cc \\\n " + " \\\n ".join(headers).format(root=root, gen=tmp_path / "gen", source=SOURCE) + "\n")
    found = list(matrix.strangers(file, root, tmp_path / "gen", matrix.vendor_names(root)))
    return [name for name in found if name != "x.cc"]


@pytest.mark.parametrize("header", ["/usr/local/include/cupti.h", "/usr/include/cuda.h", "/usr/include/crt/host_defines.h",
                                    "/usr/local/include/crt/host_defines.h", "/opt/cuda/include/other.h",
                                    "/usr/include/cuda_stdint.h", "{root}/../elsewhere/cupti.h"])
def test_a_vendor_header_from_outside_is_found(tmp_path, header):
    assert len(strangers(tmp_path, header)) == 1


@pytest.mark.parametrize("header", ["{root}/nvidia/include/cupti.h", "{gen}/cupti_declarations.gen.h", "/usr/include/stdio.h",
                                    "{source}/src/sources/gpu/cupti/layouts.h", "/usr/include/c++/12/bits/invoke.h",
                                    "/usr/include/x86_64-linux-gnu/bits/types.h", "/usr/lib/gcc/x86_64-linux-gnu/12/include/stddef.h"])
def test_headers_of_the_wheel_the_project_and_the_compiler_pass(tmp_path, header):
    assert strangers(tmp_path, header) == []


def test_each_release_is_named_by_its_wheels():
    names = [release for release, *_ in matrix.RELEASES]
    assert names == sorted(set(names), key=lambda name: [int(part) for part in name.split(".")])
    for release, cupti, runtime in matrix.RELEASES:
        assert cupti.split("==")[1].startswith(f"{release}.") and runtime.split("==")[1].startswith(f"{release}.")
