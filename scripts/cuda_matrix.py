#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the CUPTI backend against the headers of every CUPTI release that PyPI has, and loads each of its libraries.

For each minor release: the wheels are fetched into _deps/cuda-wheels (kept there), unpacked as pip would, found by
cmake/cuda.cmake, and every source of src/sources/gpu/cupti is compiled against them with the layout proofs. Fails when a
compiler's dependency list shows a vendor header from outside the wheels. Then one program, built with the oldest and with
the newest headers, opens the libcupti of every release, by its path and by the loader.

Layouts of CUDA 10.1 to 11.6, whose headers no registry has, are proven by the older structs that the newest headers keep.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
BACKEND = SOURCE / "src/sources/gpu/cupti"
# Release, wheel of CUPTI, wheel of the runtime (which holds cuda.h)
RELEASES = [
    ("11.7", "nvidia-cuda-cupti-cu11==11.7.101", "nvidia-cuda-runtime-cu11==11.7.99"),
    ("11.8", "nvidia-cuda-cupti-cu11==11.8.87", "nvidia-cuda-runtime-cu11==11.8.89"),
    ("12.0", "nvidia-cuda-cupti-cu12==12.0.146", "nvidia-cuda-runtime-cu12==12.0.146"),
    ("12.1", "nvidia-cuda-cupti-cu12==12.1.105", "nvidia-cuda-runtime-cu12==12.1.105"),
    ("12.2", "nvidia-cuda-cupti-cu12==12.2.142", "nvidia-cuda-runtime-cu12==12.2.140"),
    ("12.3", "nvidia-cuda-cupti-cu12==12.3.101", "nvidia-cuda-runtime-cu12==12.3.101"),
    ("12.4", "nvidia-cuda-cupti-cu12==12.4.127", "nvidia-cuda-runtime-cu12==12.4.127"),
    ("12.5", "nvidia-cuda-cupti-cu12==12.5.82", "nvidia-cuda-runtime-cu12==12.5.82"),
    ("12.6", "nvidia-cuda-cupti-cu12==12.6.80", "nvidia-cuda-runtime-cu12==12.6.77"),
    ("12.8", "nvidia-cuda-cupti-cu12==12.8.90", "nvidia-cuda-runtime-cu12==12.8.90"),
    ("12.9", "nvidia-cuda-cupti-cu12==12.9.79", "nvidia-cuda-runtime-cu12==12.9.79"),
    ("13.0", "nvidia-cuda-cupti==13.0.85", "nvidia-cuda-runtime==13.0.96"),
    ("13.1", "nvidia-cuda-cupti==13.1.115", "nvidia-cuda-runtime==13.1.80"),
    ("13.2", "nvidia-cuda-cupti==13.2.86", "nvidia-cuda-runtime==13.2.86"),
    ("13.3", "nvidia-cuda-cupti==13.3.75", "nvidia-cuda-runtime==13.3.29"),
    ("13.4", "nvidia-cuda-cupti==13.4.92", "nvidia-cuda-runtime==13.4.92"),
    ("13.5", "nvidia-cuda-cupti==13.5.25", "nvidia-cuda-runtime==13.5.37"),
]
# The library's own object files are enough for the program that opens it.
PROBE_SOURCES = [BACKEND / "functions.cc", BACKEND / "library.cc", BACKEND / "places.cc", SOURCE / "src/base/own_stack.cc",
                 SOURCE / "src/base/raw_io.cc", SOURCE / "test/cuda/programs/probe_cupti.cc"]
FLAGS = ["-std=c++17", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wno-sign-conversion", "-Werror"]


class Failed(Exception):
    pass


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed((done.stdout + done.stderr).strip())
    return done.stdout + done.stderr


def wheel(requirement, cache):
    """The file of one wheel, fetched once. It becomes visible under its name only when it is whole."""
    name, version = requirement.split("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    found = sorted(cache.glob(pattern))
    if not found:
        fresh = cache / f"fetch-{os.getpid()}"
        run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
             "--dest", fresh, requirement])
        for file in fresh.glob(pattern):
            file.rename(cache / file.name)
        shutil.rmtree(fresh)
        found = sorted(cache.glob(pattern))
    if not found:
        raise Failed(f"pip brought no {pattern}")
    return found[-1]


def unpack(wheels, root):
    """site-packages of one release: headers and libcupti, without the rest."""
    shutil.rmtree(root, ignore_errors=True)
    for file in wheels:
        with zipfile.ZipFile(file) as archive:
            for name in archive.namelist():
                if re.search(r"/include/.*\.h$|/lib/libcupti\.so", name):
                    archive.extract(name, root)
    return root


def detect(root, declarations):
    text = run(["cmake", "-DDFTRACER_ENABLE_CUDA_TRACING=ON", f"-DDFTRACER_CUDA_PATH={root}",
                f"-DDECLARATIONS={declarations}", "-P", SOURCE / "test/cuda/detect.cmake"])
    return dict(re.findall(r"^-- (DFT_\w+)=(.*)$", text, re.MULTILINE)), text


def include_flags(found, generated):
    return ["-I", SOURCE / "src", "-I", generated, "-I", BACKEND / "no_runtime", "-isystem", found["DFT_CUPTI_INCLUDE"],
            "-isystem", found["DFT_CUDA_INCLUDE"], f"-DDFT_CUDA_VERSION={found['DFT_CUDA_VERSION']}"]


LIBC_AND_COMPILER = re.compile(r"^/usr/(include/c\+\+|include/[\w]+-linux-gnu\w*|lib/gcc|lib/llvm[^/]*|lib/clang)/")


def strangers(dependency_file, root, generated, vendor_names):
    """Headers that do not lie in the wheels, though they are the vendor's or nobody's that we know."""
    for word in re.split(r"[\s\\]+", dependency_file.read_text().split(":", 1)[1]):
        path = os.path.normpath(word) if word else ""
        ours = path.startswith((f"{root}/", f"{generated}/", f"{SOURCE}/src/", f"{SOURCE}/include/", f"{SOURCE}/test/"))
        if path and not ours and not LIBC_AND_COMPILER.match(path):
            name = path.removeprefix("/usr/include/")
            if name == path or name in vendor_names or name.startswith("crt/"):
                yield word


def vendor_names(root):
    """As they are included."""
    return {str(path).rsplit("/include/", 1)[1] for path in root.rglob("*.h")} | {"cuda.h", "cupti.h"}


def compile_release(args, release, root, work):
    """Returns what detection found and how many sources were compiled."""
    generated = work / f"{release}.gen"
    generated.mkdir(parents=True, exist_ok=True)
    found, text = detect(root, generated / "cupti_declarations.gen.h")
    major, minor = release.split(".")
    if int(found["DFT_CUDA_VERSION"]) != int(major) * 1000 + int(minor) * 10:
        raise Failed(f"cuda.h says {found['DFT_CUDA_VERSION']}")
    names = vendor_names(root)
    sources = sorted(p for p in BACKEND.glob("*.cc") if not p.name.endswith(("_test.cc", "_fuzz.cc")) and not p.name.startswith("fake_"))
    for source in sources:
        dependencies = work / "dependencies"
        run([args.cxx, *FLAGS, *include_flags(found, generated), "-fsyntax-only", "-MD", "-MF", dependencies, source])
        foreign = list(strangers(dependencies, root, generated, names))
        if foreign:
            raise Failed(f"{source.name} includes from outside the wheels: {', '.join(foreign)}")
    layouts = re.search(r"CUPTI: (\d+) record layouts and (\d+) signatures", text)
    return found, f"{len(sources)} sources, {layouts.group(1)} layouts, {layouts.group(2)} signatures"


def build_probe(args, release, found, work):
    program = work / f"probe-{release}"
    run([args.cxx, *FLAGS, "-O1", *include_flags(found, work / f"{release}.gen"), *PROBE_SOURCES, "-o", program, "-ldl"])
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=pathlib.Path, default=SOURCE / "_deps/cuda-wheels", help="where wheels are kept")
    parser.add_argument("--work", type=pathlib.Path, default=SOURCE / "build/cuda-matrix")
    parser.add_argument("--cxx", default=os.environ.get("CXX", "c++"))
    parser.add_argument("--root", metavar="RELEASE", help="only unpack this release and print the folder for DFTRACER_CUDA_PATH")
    parser.add_argument("--driver", action="append", default=[], choices=["mapped", "up", "force"],
                        help="also load with the machine's driver (see test/cuda/programs/probe_cupti.cc)")
    parser.add_argument("releases", nargs="*", help="such as 12.6; all without")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    args.work.mkdir(parents=True, exist_ok=True)
    work = args.work.resolve()
    wanted = [args.root] if args.root else args.releases
    chosen = [row for row in RELEASES if not wanted or row[0] in wanted]
    if not chosen:
        parser.error(f"no such release; there are {' '.join(row[0] for row in RELEASES)}")
    if args.root:
        print(unpack([wheel(r, args.cache) for r in chosen[0][1:]], args.cache.resolve().parent / f"cuda-{args.root}"))
        return 0
    found, failed = {}, 0
    for release, *requirements in chosen:
        try:
            root = unpack([wheel(r, args.cache) for r in requirements], work / release)
            found[release], result = compile_release(args, release, root, work)
        except Failed as error:
            failed += 1
            result = f"FAILED\n{error}"
        print(f"compile {release:5} {requirements[0]:36} {result}", flush=True)
    failed += load(args, found, work)
    print("layouts of CUDA 10.1 to 11.6 have no wheels: they are proven by the older structs in the headers above")
    print(f"cuda-matrix: {len(chosen)} releases, {failed} failures")
    return 1 if failed else 0


def load(args, found, work):
    """One binary with every library: built with the oldest and the newest headers."""
    failed = 0
    for built in dict.fromkeys([*list(found)[:1], *list(found)[-1:]]):
        try:
            program = build_probe(args, built, found[built], work)
        except Failed as error:
            failed += 1
            print(f"probe with headers of {built} FAILED\n{error}")
            continue
        for release, facts in found.items():
            # A toolkit has the name without a number too, by which the loader's own order counts.
            toolkit = work / f"{release}.lib"
            shutil.rmtree(toolkit, ignore_errors=True)
            toolkit.mkdir()
            library = next(pathlib.Path(facts["DFT_CUPTI_LIBDIR"]).glob("libcupti.so*"))
            (toolkit / "libcupti.so").symlink_to(library)
            ways = [("by path", facts["DFT_CUPTI_LIBDIR"], "", {}), ("by loader", "", "", {"LD_LIBRARY_PATH": str(toolkit)})]
            # On a machine with a driver: the same with it, not initialised and initialised.
            ways += [(how, facts["DFT_CUPTI_LIBDIR"], how, {}) for how in args.driver]
            for way, path, driver, environment in ways:
                done = subprocess.run([program, path, facts["DFT_CUDA_VERSION"], driver], capture_output=True, text=True,
                                      timeout=60, env={**os.environ, **environment})
                bad = done.returncode not in (0, 77)
                failed += bad
                result = f"{'FAILED ' if bad else ''}{(done.stdout + done.stderr).strip()}"
                print(f"load {release:5} built with {built:5} {way:9} {result}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
