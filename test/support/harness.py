# SPDX-License-Identifier: MIT
"""Runs a test program untraced and traced, and holds the two runs against each other.

    run = bench.same("fault/programs/ends.c", "return")      # compiles, runs twice, compares, reads the trace strictly
    assert run.count("work") == 1000

The untraced run is a build with -DDFTRACER_DISABLE that links nothing of the product. Both runs start in an empty
directory with an empty TMPDIR of their own; whatever appears there must be the same in both, so that a trace can only lie
in the log directory. Programs that must tell a test something that differs from run to run (pids, tids) write it to the
file that DFT_FACTS names (programs/facts.h).
"""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import zlib

import pfw
import pytest

SOURCE = pathlib.Path(os.environ.get("DFT_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("DFT_BUILD_DIR", SOURCE / "build"))
LONG = os.environ.get("DFT_LONG") == "1"  # whole counts instead of reduced ones
TIMEOUT = 60
NO_IO = {"DFTRACER_DISABLE_IO": "1"}  # for tests that count what the program itself records
PASSED_ON = ("PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LD_LIBRARY_PATH")


def _find(name: str, wanted_mode: int = os.R_OK) -> pathlib.Path:
    """A file of the build tree, or of an installation."""
    for path in sorted(BUILD.rglob(name), key=lambda p: len(p.parts)):
        if path.is_file() and os.access(path, wanted_mode) and "CMakeFiles" not in path.parts:
            return path
    raise FileNotFoundError(f"{name} under {BUILD}: build the product first")


def core_library() -> pathlib.Path:
    return _find("libdftracer_core.so")


def preload_library() -> pathlib.Path:
    return _find("libdftracer_preload.so")


def command() -> pathlib.Path:
    return _find("dftracer", os.X_OK)


def cache_entry(key: str) -> str:
    """A variable of the build tree's CMake cache; empty when there is none."""
    cache = BUILD / "CMakeCache.txt"
    found = re.search(rf"^{key}:[A-Z]+=(.*)$", cache.read_text() if cache.exists() else "", re.M)
    return found.group(1) if found else ""


def sanitizer() -> str:
    """`address`, `thread`, ... when the product is built with one, else empty."""
    text = " ".join(cache_entry(k) for k in ("CMAKE_C_FLAGS", "CMAKE_CXX_FLAGS", "DFTRACER_SANITIZE", "DFTRACER_SANITIZER"))
    for name in ("address", "thread", "undefined", "memory"):
        if name in text:
            return name
    return ""


# ---------------------------------------------------------------------------------------------------------- compiling


def _compiler(cxx: bool) -> str:
    if cxx:
        return os.environ.get("CXX") or cache_entry("CMAKE_CXX_COMPILER") or "g++"
    return os.environ.get("CC") or cache_entry("CMAKE_C_COMPILER") or "gcc"


def _fingerprint(*parts: object) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else str(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def _headers(source: pathlib.Path) -> bytes:
    folders = [SOURCE / "include" / "dftracer", source.parent, SOURCE / "test" / "support"]
    files = sorted(p for folder in folders if folder.is_dir() for p in folder.iterdir() if p.suffix in (".h", ".hpp"))
    return b"".join(p.read_bytes() for p in files)


def compile_program(name: str, *flags: str, bare: bool = False, link: bool = True) -> pathlib.Path:
    """Builds test/<name> once per state of its sources; `bare` without the tracer, `link` False: its headers only."""
    source = SOURCE / "test" / name
    cxx = source.suffix in (".cc", ".cpp")
    line = [_compiler(cxx), "-g", "-O1", "-w", "-pthread", f"-I{SOURCE}/test/support"]
    line += [f"-I{SOURCE}/include", f"-I{BUILD}/include", *flags, str(source)]
    libraries: list[str] = ["-ldl"]
    if bare:
        line.append("-DDFTRACER_DISABLE")
    else:
        if sanitizer():
            line.append(f"-fsanitize={sanitizer()}")
        if link:
            folder = core_library().parent
            libraries = [f"-L{folder}", "-ldftracer_core", f"-Wl,-rpath,{folder}", "-ldl"]
    line += libraries
    folder = BUILD / "test-programs"
    folder.mkdir(exist_ok=True)
    shape = "bare" if bare else "traced"
    suffix = ".so" if "-shared" in flags else ""
    target = folder / f"{source.stem}-{shape}-{_fingerprint(line, source.read_bytes(), _headers(source))}{suffix}"
    if not target.exists():
        partial = target.with_name(f"{target.name}.{os.getpid()}")
        done = subprocess.run([*line, "-o", str(partial)], capture_output=True, text=True)
        assert done.returncode == 0, f"{' '.join(line)}\n{done.stderr}"
        partial.rename(target)
    return target


# ------------------------------------------------------------------------------------------------------------ running


@dataclasses.dataclass
class Result:
    """What a finished process showed; `status` is the exit status, negative for a signal."""

    status: int
    out: bytes
    err: bytes
    folder: pathlib.Path
    pid: int = 0

    @property
    def log(self) -> pathlib.Path:
        return self.folder / "log"

    @property
    def own_err(self) -> bytes:
        """stderr without the tracer's lines."""
        return b"".join(l for l in self.err.splitlines(keepends=True) if not l.startswith(b"dftracer: "))

    @property
    def notes(self) -> list[str]:
        """The tracer's lines on stderr, without `dftracer: `."""
        return [l[10:].decode() for l in self.err.splitlines() if l.startswith(b"dftracer: ")]

    def facts(self) -> dict[str, list[int]]:
        """key -> values that the program wrote by fact()."""
        path = self.folder / "facts"
        found: dict[str, list[int]] = collections.defaultdict(list)
        for line in path.read_text().splitlines() if path.exists() else ():
            key, value = line.rsplit(" ", 1)
            found[key].append(int(value))
        return found

    def fact(self, key: str) -> int:
        values = self.facts()[key]
        assert len(values) == 1, (key, values)
        return values[0]

    def traces(self) -> list[pfw.Trace]:
        """Every trace of the log directory, each accepted by the strict reader."""
        if not self.log.is_dir():
            return []
        return [t.check() for t in pfw.read_all(self.log)]

    def trace(self) -> pfw.Trace:
        return pfw.read_one(self.log)

    def events(self, name: str | None = None, pid: int | None = None) -> list[dict]:
        return [
            e
            for t in self.traces()
            for e in t.events
            if (name is None or e["name"] == name) and (pid is None or e["pid"] == pid)
        ]

    def count(self, name: str, pid: int | None = None) -> int:
        return len(self.events(name, pid))

    def lost(self) -> dict[str, int]:
        """Sum of the loss records' counts by cause."""
        sums: dict[str, int] = collections.Counter()
        for trace in self.traces():
            for record in trace.losses:
                sums[record["args"]["cause"]] += record["args"].get("count", 0)
        return dict(sums)


def preloaded() -> str:
    if sanitizer():
        pytest.skip("a sanitizer's runtime intercepts the names that the preload library intercepts, before either is ready")
    return str(preload_library())


def environment(folder: pathlib.Path, mode: str | None, extra: dict | None = None) -> dict[str, str]:
    """`mode`: None (untraced), "function", "preload", "hybrid" or "off" (the library is there, switched off)."""
    env = {k: os.environ[k] for k in PASSED_ON if k in os.environ}
    env |= {"HOME": str(folder / "tmp"), "TMPDIR": str(folder / "tmp"), "LC_ALL": "C", "DFT_FACTS": str(folder / "facts")}
    if mode in ("function", "preload", "hybrid"):
        env |= {"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(folder / "log" / "t")}
    if mode in ("preload", "hybrid"):
        env |= {"DFTRACER_INIT": mode.upper(), "LD_PRELOAD": preloaded()}
    for key, value in (extra or {}).items():
        if mode is None and (key.startswith("DFTRACER_")):
            continue
        if value is None:
            env.pop(key, None)
        else:
            env[key] = str(value)
    return env


def listing(folder: pathlib.Path) -> dict[str, object]:
    """Relative path -> size or kind of everything under a folder."""
    return {
        str(p.relative_to(folder)): "dir" if p.is_dir() else p.stat(follow_symlinks=False).st_size
        for p in sorted(folder.rglob("*"))
    }


class Bench:
    """One test's scratch folder, and the runs made in it."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.runs = 0

    def place(self, label: str) -> pathlib.Path:
        self.runs += 1
        folder = self.folder / f"{self.runs}-{label}"
        for part in ("cwd", "tmp", "log"):
            (folder / part).mkdir(parents=True)
        return folder

    def start(self, argv, mode=None, env=None, folder=None, wrap=(), stdin=subprocess.DEVNULL, preexec=None, cwd=None):
        """Starts a process with its output in files of its folder; (process, folder)."""
        folder = folder or self.place(mode or "bare")
        with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
            process = subprocess.Popen(
                [*map(str, wrap), *map(str, argv)],
                cwd=cwd or folder / "cwd",
                env=environment(folder, mode, env),
                stdin=stdin,
                stdout=out,
                stderr=err,
                preexec_fn=preexec,
                start_new_session=True,
            )
        return process, folder

    def finish(self, process, folder, timeout=TIMEOUT) -> Result:
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise AssertionError(f"hangs: {process.args}; stderr: {(folder / 'err').read_bytes()[-2000:]!r}") from None
        return Result(status, (folder / "out").read_bytes(), (folder / "err").read_bytes(), folder, process.pid)

    def run(self, argv, mode=None, timeout=TIMEOUT, **how) -> Result:
        return self.finish(*self.start(argv, mode, **how), timeout=timeout)

    def same(self, program: str, *args, mode="function", flags=(), notes=None, link=True, **how) -> Result:
        """Both runs; asserts that they show the same. `notes`: patterns, one for each line that the tracer may and must
        write on stderr, or None: it writes nothing."""
        bare = self.run([compile_program(program, *flags, bare=True), *args], None, **how)
        traced = self.run([compile_program(program, *flags, link=link), *args], mode, **how)
        return compare(bare, traced, notes)

    def same_command(self, argv, mode="preload", notes=None, **how) -> Result:
        """The same for a program that is there already."""
        return compare(self.run(argv, None, **how), self.run(argv, mode, **how), notes)


def compare(bare: Result, traced: Result, notes=None, mask: bytes | None = None) -> Result:
    """`mask`: a pattern of bytes in the outputs that differ from run to run (addresses)."""

    def masked(text: bytes) -> bytes:
        return re.sub(mask, b"*", text) if mask else text

    shown = f"untraced: {bare.status} {bare.err[-500:]!r}; traced: {traced.status} {traced.err[-2000:]!r}"
    assert traced.status == bare.status, shown
    assert masked(traced.out) == masked(bare.out), f"{bare.out[-1000:]!r} became {traced.out[-1000:]!r}; {shown}"
    assert masked(traced.own_err) == masked(bare.err), shown
    if notes != "any":
        wanted = list(notes or [])
        assert len(traced.notes) == len(wanted), shown
        for pattern, note in zip(wanted, traced.notes):
            assert re.search(pattern, note), f"{pattern!r} is not in {note!r}"
    for part in ("cwd", "tmp"):
        assert listing(traced.folder / part) == listing(bare.folder / part), f"files in {part}; {shown}"
    strays = [p.name for p in traced.log.rglob("*") if p.is_file() and not p.name.startswith("t-")] if traced.log.is_dir() else []
    assert not strays, f"in the log directory: {strays}"
    return traced


# ------------------------------------------------------------------------------------------------ what a crash leaves


@dataclasses.dataclass
class Remains:
    """Whole lines of a trace whose last member may be cut, and how many bytes lie behind the last whole member."""

    records: list[dict]
    tail: int

    def named(self, name: str) -> list[dict]:
        return [r for r in self.records if r.get("ph") == pfw.COMPLETE and r["name"] == name]


def remains(path: pathlib.Path) -> Remains:
    """Strict about everything that is whole; forgives only one incomplete member at the end."""
    data = path.read_bytes()
    text, tail = bytearray(), 0
    while data:
        member = zlib.decompressobj(wbits=31)
        part = member.decompress(data)
        if not member.eof:
            tail = len(data)
            break
        text += part
        data = member.unused_data
    assert not text or text.endswith(b"\n"), f"{path}: a whole member ends inside a line"
    lines = bytes(text).split(b"\n")[:-1]
    return Remains([pfw.parse_line(l, f"{path}:{n}") for n, l in enumerate(lines, 1)], tail)


def self_contained(records: list[dict]) -> None:
    """What a file needs to be read alone, also when blocks in its midst are missing: unit, host, and every hash's text."""
    metadata = [r for r in records if r["ph"] == pfw.METADATA]
    known = {r["args"]["value"] for r in metadata if r["name"] in pfw.HASH_RECORDS}
    assert any(r["args"]["name"] == "time_metric" for r in metadata if r["name"] == "CM"), "no time_metric"
    for record in records:
        for key, value in record.get("args", {}).items():
            if key in ("hhash", "fhash", "cwd") or key.endswith("_hash"):
                assert value in known, f"no record explains {key} {value}"


def wait_until(condition, what: str, seconds: float = 20.0):
    """Polls; for the few cases whose subject is time itself (flush interval)."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.01)


def on_disk(folder: pathlib.Path, name: str) -> int:
    """How many events of a name the traces of a folder hold at this moment, the writer still running."""
    return sum(len(remains(p).named(name)) for p in pfw.traces(folder)) if folder.is_dir() else 0


def dftracer(*args, env=None, timeout=TIMEOUT, **how) -> subprocess.CompletedProcess:
    """The product's command."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("DFTRACER_") and k != "LD_PRELOAD"}
    return subprocess.run([str(command()), *map(str, args)], capture_output=True, text=True, timeout=timeout, env=clean | (env or {}), **how)


def summary_rows(*inputs) -> list[dict]:
    done = dftracer("summary", "--json", *inputs)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["rows"]


# ----------------------------------------------------------------------------------------------------- what is allowed


def can_mount() -> bool:
    folder = tempfile.mkdtemp()
    try:
        if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True).returncode:
            return False
        subprocess.run(["umount", folder], check=True)
        return True
    except FileNotFoundError:
        return False
    finally:
        os.rmdir(folder)


def can_unshare(*flags: str) -> bool:
    return bool(shutil.which("unshare")) and subprocess.run(["unshare", *flags, "true"], capture_output=True).returncode == 0


class Tmpfs:
    """A small file system of its own for the time of a `with`."""

    def __init__(self, folder: pathlib.Path, options: str):
        self.folder, self.options = folder, options

    def __enter__(self) -> pathlib.Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", self.options, "tmpfs", str(self.folder)], check=True)
        return self.folder

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", str(self.folder)], check=True)
