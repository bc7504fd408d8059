#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles what the AMD backend declares of rocprofiler-sdk against the real headers of every release at hand.

PyPI's triton wheels carry a part of them (enumerations, agents, buffers, registration, code objects, the record of a
kernel). Only those files are read out of the wheels, which are hundreds of megabytes, and are kept in build/hip-headers.
Whole sets of headers are taken from --headers, ROCM_PATH and /opt/rocm. Each release is compiled with the proofs of the
backend (src/sources/gpu/rocprof/layout_proofs.cc) and of the stand-in (test/hip/standin/layout_proof.cc).

Exit status: 0 all agree, 1 not, 77 no headers can be had.
"""

import argparse
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
WHEELS = ("3.8.0", "3.9.0")
INSIDE = "triton/backends/amd/include/"
PROOFS = ("src/sources/gpu/rocprof/layout_proofs.cc", "test/hip/standin/layout_proof.cc")
FLAGS = ["-std=c++17", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wno-sign-conversion", "-Werror", "-fsyntax-only",
         "-D__HIP_PLATFORM_AMD__=1", "-DDFT_ROCPROF_HEADERS=1"]
TIMEOUT = 20


class Unavailable(Exception):
    pass


def get(url, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT) as answer:
            return answer.status, answer.headers, answer.read()
    except (urllib.error.URLError, OSError) as error:
        raise Unavailable(f"{url}: {error}") from error


class RemoteFile(io.RawIOBase):
    """A file of a web server, read by the ranges that are asked for."""

    def __init__(self, url):
        self.url, self.at = url, 0
        status, headers, _ = get(url, Range="bytes=-1")
        if status != 206:
            raise Unavailable(f"{url}: the server gives whole files only")
        self.size = int(headers["Content-Range"].rsplit("/", 1)[1])

    def seekable(self):
        return True

    def readable(self):
        return True

    def tell(self):
        return self.at

    def seek(self, offset, whence=io.SEEK_SET):
        self.at = offset + (0, self.at, self.size)[whence]
        return self.at

    def readinto(self, buffer):
        end = min(self.at + len(buffer), self.size)
        if end <= self.at:
            return 0
        status, _, data = get(self.url, Range=f"bytes={self.at}-{end - 1}")
        if status != 206:
            raise Unavailable(f"{self.url}: the server gives whole files only")
        buffer[: len(data)] = data
        self.at += len(data)
        return len(data)


def wheel_url(version):
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
    _, _, text = get(f"{index}/triton/", Accept="application/vnd.pypi.simple.v1+json")
    try:
        files = json.loads(text)["files"]
    except ValueError as error:
        raise Unavailable(f"{index}: no JSON index") from error
    for file in files:
        if re.match(rf"triton-{re.escape(version)}-.*manylinux.*x86_64\.whl$", file["filename"]):
            return file["url"]
    raise Unavailable(f"{index} has no triton {version} for x86-64")


def headers_of_wheel(version, cache):
    """The folder of the headers. It becomes visible under its name only when it is whole."""
    folder = cache / f"triton-{version}"
    if not folder.exists():
        fresh = cache / f"fetch-{os.getpid()}"
        try:
            with zipfile.ZipFile(io.BufferedReader(RemoteFile(wheel_url(version)), 1 << 18)) as archive:
                names = [n for n in archive.namelist() if n.startswith(INSIDE) and n.endswith((".h", ".hpp"))]
                if not names:
                    raise Unavailable(f"triton {version} has no headers of AMD's")
                archive.extractall(fresh, names)
        except zipfile.BadZipFile as error:
            raise Unavailable(f"triton {version}: {error}") from error
        (fresh / INSIDE).rename(folder)
        shutil.rmtree(fresh)
    return folder


def release_of(folder):
    try:
        text = (folder / "rocprofiler-sdk/version.h").read_text()
    except OSError:
        return None
    parts = [re.search(rf"#\s*define\s+ROCPROFILER_VERSION_{p}\s+(\d+)", text) for p in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(p.group(1) for p in parts) if all(parts) else None


def compile_proofs(cxx, folder):
    """Problems, as the compiler tells them."""
    problems = []
    for proof in PROOFS:
        done = subprocess.run([cxx, *FLAGS, "-I", str(SOURCE / "src"), "-isystem", str(folder), str(SOURCE / proof)],
                              capture_output=True, text=True)
        if done.returncode != 0:
            problems.append(f"{proof}:\n{done.stderr.strip()}")
    return problems


def folders(args):
    """Label and folder of each set of headers, then why others are not there."""
    found, missing = [], []
    for version in WHEELS:
        try:
            found.append((f"part of the headers, from triton {version}", headers_of_wheel(version, args.cache)))
        except Unavailable as why:
            missing.append(str(why))
    rocm = [pathlib.Path(p) / "include" for p in (os.environ.get("ROCM_PATH"), "/opt/rocm") if p]
    for folder in dict.fromkeys(p.resolve() for p in [*args.headers, *rocm]):
        if (folder / "rocprofiler-sdk").is_dir():
            found.append((f"all headers, from {folder}", folder))
        elif folder in [p.resolve() for p in args.headers]:
            raise SystemExit(f"hip-matrix: {folder} has no rocprofiler-sdk folder")
    return found, missing


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=pathlib.Path, default=SOURCE / "build/hip-headers", help="where headers are kept")
    parser.add_argument("--cxx", default=os.environ.get("CXX", "c++"))
    parser.add_argument("--headers", type=pathlib.Path, action="append", default=[], metavar="DIR",
                        help="an include folder with rocprofiler-sdk, hip, hsa and hsakmt in it; more than one may be given")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    found, missing = folders(args)
    for why in missing:
        print(f"not at hand: {why}")
    if not found:
        print("skipped: no headers of rocprofiler-sdk can be had")
        return 77
    failed = 0
    for label, folder in found:
        problems = compile_proofs(args.cxx, folder)
        failed += bool(problems)
        print(f"compile rocprofiler-sdk {release_of(folder)} ({label}): {'FAILED' if problems else 'agrees'}", flush=True)
        for problem in problems:
            print(problem)
    print(f"hip-matrix: {len(found)} sets of headers, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
