# SPDX-License-Identifier: MIT
"""Which CUDA toolkit a build takes: fake roots of every layout, the order of the places, and what is said."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CMAKE = shutil.which("cmake")
FAMILIES = ("API Kernel4 Memcpy MemcpyPtoP Memset Synchronization Overhead ExternalCorrelation Marker2 MarkerData "
            "UnifiedMemoryCounter2 Device2 Context Stream").split()

# Where cupti.h and cuda.h lie below the root, and which root a user gives.
LAYOUTS = {
    "toolkit": ("include", "include", ""),
    "toolkit up to 10.1": ("extras/CUPTI/include", "include", ""),
    "targets": ("targets/x86_64-linux/include", "targets/x86_64-linux/include", ""),
    "extras beside targets": ("extras/CUPTI/include", "targets/x86_64-linux/include", ""),
    "wheel of 13 by site-packages": ("nvidia/cu13/include", "nvidia/cu13/include", ""),
    "wheel of 13 by nvidia": ("nvidia/cu13/include", "nvidia/cu13/include", "nvidia"),
    "wheel of 13 by cu13": ("nvidia/cu13/include", "nvidia/cu13/include", "nvidia/cu13"),
    "wheel of 12 by site-packages": ("nvidia/cuda_cupti/include", "nvidia/cuda_runtime/include", ""),
    "wheel of 12 by nvidia": ("nvidia/cuda_cupti/include", "nvidia/cuda_runtime/include", "nvidia"),
    "wheel of 12 by package": ("nvidia/cuda_cupti/include", "nvidia/cuda_runtime/include", "nvidia/cuda_cupti"),
    "wheel of 11 by site-packages": ("nvidia/cuda_cupti/extras/CUPTI/include", "nvidia/cuda_runtime/include", ""),
    "wheel of 11 by package": ("nvidia/cuda_cupti/extras/CUPTI/include", "nvidia/cuda_runtime/include", "nvidia/cuda_cupti"),
}


def put(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def toolkit(root, cupti="include", cuda="include", version=12060):
    put(root / cupti / "cupti.h")
    put(root / cuda / "cuda.h", f"#ifndef X\n#define CUDA_VERSION {version}\n#endif\n")
    return root


class Result:
    def __init__(self, done):
        self.status = done.returncode
        self.text = done.stdout + done.stderr
        self.flat = " ".join(self.text.split())
        self.values = dict(re.findall(r"^-- (DFT_\w+)=(.*)$", self.text, re.MULTILINE))


@pytest.fixture
def detect(tmp_path):
    (tmp_path / "bin").mkdir()

    def run(*settings, enable="DFTRACER_ENABLE_CUDA_TRACING=ON", **environment):
        command = [CMAKE, f"-DDFT_CUDA_DEFAULT_ROOT={tmp_path}/default", *(f"-D{s}" for s in (enable, *settings)),
                   "-P", SOURCE / "test/cuda/detect.cmake"]
        return Result(subprocess.run(command, capture_output=True, text=True, cwd=tmp_path,
                                     env={"PATH": f"{tmp_path}/bin", **environment}))

    return run


def nvcc(root):
    put(root / "bin/nvcc", "#!/bin/sh\n")
    (root / "bin/nvcc").chmod(0o755)
    return root


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_is_found_below_the_path_that_is_given(detect, tmp_path, layout):
    cupti, cuda, given = LAYOUTS[layout]
    root = toolkit(tmp_path / "a toolkit", cupti, cuda)
    found = detect(f"DFTRACER_CUDA_PATH={root / given}")
    assert found.status == 0, found.text
    assert found.values["DFT_CUPTI_INCLUDE"] == f"{root / cupti}"
    assert found.values["DFT_CUDA_INCLUDE"] == f"{root / cuda}"
    assert found.values["DFT_HAS_CUDA_TRACING"] == "1"
    assert f"-- [DFTRACER] found CUPTI at {root / cupti} (cuda root {root / given})\n" in found.text
    assert "-- [DFTRACER] CUDA toolkit version: 12.6.0\n" in found.text


@pytest.mark.parametrize("other", ["extras/CUPTI/include", "targets/x86_64-linux/include"])
def test_include_wins_where_a_root_has_two_layouts(detect, tmp_path, other):
    root = toolkit(tmp_path / "cuda")
    put(root / other / "cupti.h")
    assert detect(f"DFTRACER_CUDA_PATH={root}").values["DFT_CUPTI_INCLUDE"] == f"{root}/include"


def test_the_newest_merged_wheel_wins(detect, tmp_path):
    for major in (9, 13, 14):
        toolkit(tmp_path / "site", f"nvidia/cu{major}/include", f"nvidia/cu{major}/include", major * 1000)
    assert detect(f"DFTRACER_CUDA_PATH={tmp_path}/site").values["DFT_CUDA_VERSION"] == "14000"


@pytest.mark.parametrize("layout, library", [
    (("include", "include"), "lib64"), (("include", "include"), "lib"),
    (("extras/CUPTI/include", "include"), "extras/CUPTI/lib64"), (("extras/CUPTI/include", "include"), "lib64"),
    (("targets/x86_64-linux/include",) * 2, "targets/x86_64-linux/lib"),
    (("nvidia/cu13/include",) * 2, "nvidia/cu13/lib"),
    (("nvidia/cuda_cupti/include", "nvidia/cuda_runtime/include"), "nvidia/cuda_cupti/lib"),
    (("nvidia/cuda_cupti/extras/CUPTI/include", "nvidia/cuda_runtime/include"), "nvidia/cuda_cupti/lib"),
])
def test_the_library_of_the_headers_is_the_last_place_of_a_run(detect, tmp_path, layout, library):
    root = toolkit(tmp_path / "cuda", *layout)
    assert detect(f"DFTRACER_CUDA_PATH={root}").values["DFT_CUPTI_LIBDIR"] == ""
    put(root / library / "libcupti.so.12")
    assert detect(f"DFTRACER_CUDA_PATH={root}").values["DFT_CUPTI_LIBDIR"] == f"{root / library}"


def test_the_places_are_tried_in_their_order(detect, tmp_path):
    """All hold a toolkit at first; taking the winner's away gives the next one."""
    order = ["path", "cmake_root", "cmake_dir", "env_root", "home", "cuda_path", "nvcc", "default"]
    for name in order:
        toolkit(tmp_path / name)
    nvcc(tmp_path / "nvcc")
    (tmp_path / "bin/nvcc").symlink_to(tmp_path / "nvcc/bin/nvcc")
    at = {name: str(tmp_path / name) for name in order}
    for name in order:
        given = [f"DFTRACER_CUDA_PATH={at['path']}"] if name == "path" else []
        found = detect(*given, f"CUDAToolkit_ROOT={at['cmake_root']}", f"CUDA_TOOLKIT_ROOT_DIR={at['cmake_dir']}",
                       CUDAToolkit_ROOT=at["env_root"], CUDA_HOME=at["home"], CUDA_PATH=at["cuda_path"])
        assert found.values["DFT_CUDA_ROOT"] == at[name], found.text
        (tmp_path / name / "include/cupti.h").unlink()


def test_nvcc_counts_where_it_is_named_and_where_it_is(detect, tmp_path):
    toolkit(nvcc(tmp_path / "named"))
    found = detect(PATH=f"{tmp_path}/named/bin")
    assert found.values["DFT_CUDA_ROOT"] == f"{tmp_path}/named", found.text


def test_find_package_comes_between_the_environment_and_nvcc(tmp_path):
    toolkit(tmp_path / "package")
    toolkit(nvcc(tmp_path / "nvcc"))
    toolkit(tmp_path / "home")
    put(tmp_path / "modules/FindCUDAToolkit.cmake", f"set(CUDAToolkit_FOUND TRUE)\nset(CUDAToolkit_TARGET_DIR {tmp_path}/package)\n"
        f"set(CUDAToolkit_BIN_DIR {tmp_path}/package/bin)\n")
    put(tmp_path / "project/CMakeLists.txt", "cmake_minimum_required(VERSION 3.24)\nproject(x NONE)\n"
        f"set(CMAKE_MODULE_PATH {tmp_path}/modules)\nset(DFTRACER_CUDA_PATH \"\")\nset(DFTRACER_ENABLE_CUDA_TRACING ON)\n"
        f"include({SOURCE}/cmake/cuda.cmake)\ndft_detect_cuda()\n")
    for name, environment in (("package", {}), ("home", {"CUDA_HOME": f"{tmp_path}/home"})):
        make = shutil.which("make") or shutil.which("ninja")
        done = subprocess.run([CMAKE, "-G", "Unix Makefiles" if make.endswith("make") else "Ninja", f"-DCMAKE_MAKE_PROGRAM={make}",
                               "-S", tmp_path / "project", "-B", tmp_path / f"b-{name}"], capture_output=True, text=True,
                              env={"PATH": f"{tmp_path}/nvcc/bin", **environment})
        assert f"(cuda root {tmp_path / name})" in done.stdout, done.stdout + done.stderr


def test_a_path_without_cupti_is_an_error_that_names_the_places_and_nothing_else_is_taken(detect, tmp_path):
    toolkit(tmp_path / "home")
    (tmp_path / "empty").mkdir()
    for enable in ("DFTRACER_ENABLE_CUDA_TRACING=ON", "DFTRACER_ENABLE_DYNAMIC_DETECTION=ON"):
        found = detect(f"DFTRACER_CUDA_PATH={tmp_path}/empty", enable=enable, CUDA_HOME=f"{tmp_path}/home")
        assert found.status != 0
        assert f"DFTRACER_CUDA_PATH={tmp_path}/empty: cupti.h was not found" in found.flat
        for place in ("include", "targets/x86_64-linux/include", "extras/CUPTI/include", "nvidia/cuda_cupti/include"):
            assert f"{tmp_path}/empty/{place}\n" in found.text, place
        assert f"{tmp_path}/home" not in found.text


def test_a_toolkit_that_is_asked_for_and_missing_is_an_error_that_names_the_places(detect, tmp_path):
    found = detect(CUDA_HOME=f"{tmp_path}/home")
    assert found.status != 0
    for place in ("home/include", "home/extras/CUPTI/include", "default/include", "default/targets/x86_64-linux/include"):
        assert f"{tmp_path}/{place}\n" in found.text, found.text
    assert "--with-cuda DIR" in found.flat


def test_dynamic_detection_takes_what_is_there_and_leaves_out_what_is_not(detect, tmp_path):
    absent = detect(enable="DFTRACER_ENABLE_DYNAMIC_DETECTION=ON")
    assert absent.status == 0 and absent.values["DFT_HAS_CUDA_TRACING"] == "0"
    assert "[DFTRACER] CUDA tracing is left out: cupti.h was not found" in absent.flat
    assert absent.values["DFT_CUDA_VERSION"] == "0"
    toolkit(tmp_path / "default")
    assert detect(enable="DFTRACER_ENABLE_DYNAMIC_DETECTION=ON").values["DFT_HAS_CUDA_TRACING"] == "1"


def test_nothing_is_looked_for_when_cuda_tracing_is_off(detect, tmp_path):
    toolkit(tmp_path / "default")
    off = detect(enable="DFTRACER_ENABLE_CUDA_TRACING=OFF")
    assert off.values["DFT_HAS_CUDA_TRACING"] == "0" and "found CUPTI" not in off.text
    off = detect("DFTRACER_CUDA_PATH=/x", enable="DFTRACER_ENABLE_CUDA_TRACING=OFF")
    assert off.status == 0 and "DFTRACER_CUDA_PATH=/x is not used" in off.flat


@pytest.mark.parametrize("line, version", [("#define CUDA_VERSION 10010", "10.1.0"), ("#define CUDA_VERSION  11080", "11.8.0"),
                                           ("#define\tCUDA_VERSION\t13000 /* x */", "13.0.0"), ("#define CUDA_VERSION 12052", "12.5.2")])
def test_the_version_is_what_cuda_h_says(detect, tmp_path, line, version):
    root = toolkit(tmp_path / "cuda")
    put(root / "include/cuda.h", f"#define CUDA_VERSION_X 1\n{line}\n#define CUDA_VERSION 99990\n")
    found = detect(f"DFTRACER_CUDA_PATH={root}")
    assert f"CUDA toolkit version: {version}\n" in found.text
    parts = [found.values[f"DFT_CUDA_VERSION_{part}"] for part in ("MAJOR", "MINOR", "PATCH")]
    assert ".".join(parts) == version


def test_cuda_h_that_is_missing_or_without_a_version_is_an_error(detect, tmp_path):
    root = toolkit(tmp_path / "cuda")
    put(root / "include/cuda.h", "int none;\n")
    assert "does not say its CUDA_VERSION" in detect(f"DFTRACER_CUDA_PATH={root}").flat
    (root / "include/cuda.h").unlink()
    found = detect(f"DFTRACER_CUDA_PATH={root}")
    assert found.status != 0 and f"cupti.h is in {root}/include, but" in found.flat
    assert "cuda.h was not found" in found.flat and f"{root}/cuda_runtime/include" in found.text


def test_the_project_takes_the_path_from_the_environment_and_says_what_it_was_built_with(tmp_path):
    root = toolkit(tmp_path / "cuda", version=11080)
    structs = "".join("} CUpti_Activity%s;\n" % family for family in FAMILIES)
    put(root / "include/cupti_activity.h", structs + "CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind);\n")
    for header in ("cupti_callbacks.h", "cupti_result.h", "cupti_version.h"):
        put(root / "include" / header)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("DFTRACER_", "CUDA"))}
    done = subprocess.run([CMAKE, "-S", SOURCE, "-B", tmp_path / "b", "-DDFTRACER_ENABLE_CUDA_TRACING=ON"],
                          capture_output=True, text=True, env=environment | {"DFTRACER_CUDA_PATH": str(root)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"-- [DFTRACER] found CUPTI at {root}/include (cuda root {root})\n" in done.stdout
    assert "14 record layouts and 1 signatures" in done.stdout
    header = (tmp_path / "b/include/dftracer/dftracer_config.hpp").read_text()
    for line in ("HAS_CUDA_TRACING 1", "CUDA_VERSION 11080", "CUDA_VERSION_MAJOR 11", "CUDA_VERSION_MINOR 8", "CUDA_VERSION_PATCH 0"):
        assert f"#define DFTRACER_{line}\n" in header
    (root / "include/cupti_activity.h").write_text("} CUpti_ActivityAPI;\n")
    done = subprocess.run([CMAKE, tmp_path / "b"], capture_output=True, text=True, env=environment)
    assert done.returncode != 0 and "is it of a CUDA before 10.1?" in " ".join(done.stderr.split())


@pytest.mark.parametrize("flags, words", [
    (["--enable-cuda"], ["-DDFTRACER_ENABLE_CUDA_TRACING=ON"]),
    (["--with-cuda", "/opt/cuda"], ["-DDFTRACER_ENABLE_CUDA_TRACING=ON", "-DDFTRACER_CUDA_PATH=/opt/cuda"]),
    (["--with-cuda=/opt/cuda"], ["-DDFTRACER_ENABLE_CUDA_TRACING=ON", "-DDFTRACER_CUDA_PATH=/opt/cuda"]),
    (["--enable-dynamic-detection"], ["-DDFTRACER_ENABLE_DYNAMIC_DETECTION=ON"]),
    ([], []),
])
def test_autobuild_hands_the_flags_on(flags, words):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("DFTRACER_")}
    done = subprocess.run([SOURCE / "autobuild.sh", *flags, "--dry-run", "--no-deps"], capture_output=True, text=True, env=clean)
    assert done.returncode == 0, done.stderr
    for word in words:
        assert word in done.stdout, done.stdout
    assert ("CUDA" in done.stdout) == any("CUDA" in word for word in words)
