# SPDX-License-Identifier: MIT
"""Reports of other tools' users that need I/O events, by their id in the case list; test/regress/README.md says which case
is held where."""

import collections
import os
import pathlib
import signal
import subprocess
import sys

import harness
import pfw
import pytest

pytestmark = pytest.mark.skipif(harness.sanitizer() != "", reason="the preload library of a sanitizer build cannot be preloaded")

FORTIFIED = ("-O2", "-D_FORTIFY_SOURCE=2")
LARGE = ("-D_FILE_OFFSET_BITS=64",)


def prepared(bench, label) -> pathlib.Path:
    folder = bench.place(label)
    (folder / "cwd" / "in").write_bytes(b"0123456789" * 10)
    (folder / "cwd" / "other").write_bytes(b"9" * 100)
    (folder / "cwd" / "link").symlink_to("in")
    return folder


def run_both(bench, argv, notes=None, mask=None, env=None, **how) -> harness.Result:
    bare = bench.run(argv, None, folder=prepared(bench, "bare"), env=env, **how)
    traced = bench.run(argv, "preload", folder=prepared(bench, "traced"), env=env, **how)
    return harness.compare(bare, traced, notes, mask)


def same(bench, source, *words, flags=(), **how) -> harness.Result:
    return run_both(bench, [harness.compile_program(f"io/programs/{source}", *flags, bare=True), *words], **how)


def same_python(bench, script, *words, **how) -> harness.Result:
    settings = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"} | how.pop("env", {})
    path = bench.folder / "script.py"
    path.write_text(script)
    return run_both(bench, [sys.executable, "-I", "-S", path, *words], env=settings, **how)


def calls(run, *names, file=None):
    """(name, file below the run's folder, event) of the I/O events of these names or of all."""
    found = []
    for trace in run.traces():
        files = {r["args"]["value"]: r["args"]["name"] for r in trace.metadata("FH")}
        for event in trace.events:
            if event["cat"] not in ("POSIX", "STDIO") or (names and event["name"] not in names):
                continue
            name = files.get(event["args"].get("fhash"))
            if name is not None:
                name = name.replace(str(run.folder / "cwd") + "/", "")
            if file is None or name == file:
                found.append((event["name"], name, event))
    return found


def args(run, *names, file=None, key="ret"):
    return [e["args"].get(key) for _, _, e in calls(run, *names, file=file)]


# -------------------------------------------------------------------------------------------------- names of functions


@pytest.mark.parametrize("large", [(), LARGE], ids=["", "64"])
@pytest.mark.parametrize("fortified", [(), FORTIFIED], ids=["plain", "fortified"])
def test_s01_s02_hidden_names(bench, fortified, large):
    run = same(bench, "variants.c", "hidden", flags=(*fortified, *large))
    assert [(n, f) for n, f, _ in calls(run)] == [
        ("open", "in"), ("read", "in"), ("read", "in"), ("read", "in"), ("pread", "in"), ("close", "in"),
        ("openat", "in"), ("readlink", "link"), ("close", "in"),
    ]  # fmt: skip
    assert args(run, "read") == [32, 32, 32] and args(run, "pread", key="offset") == [5]
    symbols = {e["args"].get("symbol") for _, _, e in calls(run)}
    if fortified:
        assert any(s and s.startswith("__open") for s in symbols) and any(s and s.endswith("_chk") for s in symbols)


@pytest.mark.parametrize("flags", [(), FORTIFIED], ids=["plain", "fortified"])
def test_s02_too_small_a_buffer(bench, flags):
    """The hardened program aborts as it does untraced, the plain one goes on."""
    run = same(bench, "variants.c", "hidden", flags=flags, env={"N": "65"}, mask=rb"terminated\n")
    assert run.status == (-signal.SIGABRT if flags else 0)


def test_s03_aliases_for_large_files(bench):
    seen = []
    for flags in ((), LARGE):
        run = same(bench, "variants.c", "aliases", flags=flags)
        made = [f for n, f, _ in calls(run) if n.startswith("mk")]
        assert len(made) == 4 and all("XXXXXX" not in f for f in made)
        written = [f for n, f, _ in calls(run, "write")]
        assert written == [made[3]]
        seen.append([n for n, _, _ in calls(run)])
    assert seen[0] == seen[1]
    assert {"tmpfile", "fopen", "freopen", "fseek", "ftruncate", "posix_fallocate", "lseek", "mmap", "munmap"} <= {n.replace("fseeko", "fseek") for n in seen[0]}


def test_s04_s05_stat_family(bench):
    run = same(bench, "variants.c", "stats")
    assert run.status == 0
    counts = collections.Counter(n for n, f, _ in calls(run, file="in"))
    assert counts == {"open": 1, "stat": 2, "lstat": 2, "fstat": 2, "fstatat": 1, "statx": 2, "close": 1}
    symbols = [e["args"]["symbol"] for _, _, e in calls(run) if "symbol" in e["args"]]
    assert {"__xstat", "__lxstat", "__fxstat"} <= set(symbols)


def test_s05_programs_that_call_statx(bench):
    run = run_both(bench, ["ls", "-l", "in"])
    assert "in" in [f for n, f, _ in calls(run, "statx", "lstat", "stat")]


# ------------------------------------------------------------------------------------------------ sizes and positions


def test_s06_openat2_by_raw_system_call(bench):
    run = same(bench, "kernel.c", "openat2")
    assert run.status == 0
    assert [f for _, f, _ in calls(run, "read", "close")] == ["other", "other", "in", "in"]


@pytest.mark.parametrize("flags", [(), LARGE], ids=["", "64"])
def test_s07_vectors(bench, flags):
    run = same(bench, "positions.c", "vectors", flags=flags)
    vectors = [(n, e["args"]["ret"], e["args"].get("offset")) for n, f, e in calls(run, file="out") if n.startswith(("pr", "pw", "wr"))]
    assert vectors == [("pwritev", 128, 4096), ("pwritev2", 128, 0), ("preadv2", 128, -1), ("preadv", 24, 4200), ("writev", 128, None)]
    assert set(args(run, "pwritev", "writev", key="count")) == {128}
    (failed,) = [e for n, f, e in calls(run, "readv")]
    assert failed["args"]["ret"] == -1 and failed["args"]["errno"] == 11


def test_s08_offsets(bench):
    run = same(bench, "positions.c", "offsets")
    assert args(run, "write", key="offset") == [None, None] and args(run, "pwrite", key="offset") == [1 << 31]


def test_s09_ends_and_failures(bench):
    run = same(bench, "positions.c", "ends")
    assert run.out.endswith(b"ok\n")
    assert args(run, "read", file="out") == [4, 4, 2, 0, 0, 0, -1]
    assert args(run, "open") == [3, -1] and args(run, "open", key="errno") == [None, 2]
    numbers = [v for _, _, e in calls(run) for v in e["args"].values() if isinstance(v, int)]
    assert max(numbers) < 1 << 40


def test_s10_text_by_streams(bench):
    run = same(bench, "streams.c", "texts", flags=("-O0", "-fno-builtin"))
    assert run.status == 0
    size = (run.folder / "cwd" / "text").stat().st_size
    writes = {"fputs": 9, "fputc": 1, "putc": 1, "fprintf": 11, "vfprintf": 12, "fwrite": 10, "dprintf": 11}
    written = {n: e["args"]["bytes"] for n, f, e in calls(run, *writes, file="text")}
    assert written == writes and sum(written.values()) == size
    stdout = args(run, "puts", "printf", "vprintf", key="bytes")
    assert sum(stdout) == len(run.out) and len(stdout) == 4
    names = [n for n, _, _ in calls(run)]
    assert {"fgets", "fgetc", "ungetc", "getline", "getdelim", "fread"} <= set(names) and any("fscanf" in n for n in names)
    assert args(run, "fgets", key="bytes") == [9] and args(run, "fread", key="bytes") == [5]


def test_s11_no_byte_counts_twice(bench):
    run = same(bench, "streams.c", "blocks")
    assert len(calls(run, "fwrite", file="blocks")) == 1000 and sum(args(run, "fwrite", key="bytes")) == 10000
    assert not calls(run, "write", "writev", file="blocks")
    rows = [r for r in harness.summary_rows(run.log) if r["name"] == "fwrite"]
    assert [r["bytes"] for r in rows] == [10000]


def test_s12_streams_and_descriptors(bench):
    run = same(bench, "streams.c", "handed", flags=("-O0", "-fno-builtin"))
    assert run.status == 0
    assert [(f, e["args"]["ret"]) for _, f, e in calls(run, "write") if not f.startswith(("pipe", "socket", "memfd"))] == [("f", 1), ("g", 3)]
    assert [f for _, f, _ in calls(run, "fputs")][0] == "f"
    kinds = {e["args"]["ret"]: f.split(":")[0] for _, f, e in calls(run, "write") if ":" in f}
    assert kinds == {1: "memfd", 2: "pipe", 3: "socket"}


# ------------------------------------------------------------------------------------------------------- names of files


@pytest.mark.parametrize("how", ["plain", "dot", "link", "slash", "up"])
def test_s13_relative_names_and_the_filter(bench, how):
    folder = prepared(bench, "traced")
    cwd = folder / "cwd"
    (folder / "linked").symlink_to(cwd)
    listed = {"plain": cwd, "dot": "./", "link": folder / "linked", "slash": f"{cwd}/", "up": f"{cwd}/../cwd"}[how]
    env = {"DFTRACER_DATA_DIR": listed}
    run = bench.run(["sh", "-c", "echo x > rel.txt; cat rel.txt"], "preload", folder=folder, env=env)
    assert run.out == b"x\n" and not run.notes
    assert {n for n, f, _ in calls(run, file="rel.txt")} >= {"open", "write", "fstat", "close"}
    assert all(f is None or not f.startswith("/") for _, f, _ in calls(run))


def test_s13_all_filtered_is_said(bench):
    argv = ["sh", "-c", "read x < other; cat in"]  # cat closes its stderr before it ends and can say nothing
    run = bench.run(argv, "preload", folder=prepared(bench, "traced"), env={"DFTRACER_DATA_DIR": "/no/such"})
    assert run.out == b"0123456789" * 10
    assert len(run.notes) == 1 and "DFTRACER_DATA_DIR" in run.notes[0], run.notes


def test_s14_directories_of_descriptors(bench):
    run = same(bench, "names.c", "directories")
    assert run.status == 0
    found = [(n, f) for n, f, _ in calls(run) if n.endswith("at") or n == "mkdir"]
    assert ("openat", "dir/a") in found and ("mkdirat", "dir/sub") in found and ("openat", "here") in found
    assert ("renameat", "dir/a") in found and ("unlinkat", "dir/sub/b") in found and ("unlinkat", "dir/sub") in found
    assert ("fstatat", "dir/sub/b") in found and ("faccessat", "dir/sub/b") in found
    assert ("open", "dir/moved") in [(n, f) for n, f, _ in calls(run, "open")]
    failed = [f for n, f, e in calls(run, "openat") if e["args"]["ret"] == -1]
    assert failed in ([], ["closed"])
    cwd = str(run.folder / "cwd")
    (moved,) = [t.resolve(e["args"]["newpath_hash"]) for t in run.traces() for e in t.named("renameat")]
    assert moved == f"{cwd}/dir/sub/b"


def test_s15_mappings(bench):
    run = same(bench, "kernel.c", "mapped")
    assert run.status == 0
    found = [(n, e["args"].get("length", e["args"].get("len"))) for n, f, e in calls(run, "mmap", "msync", "munmap", file="map")]
    assert found == [("mmap", 16 << 20), ("msync", 16 << 20), ("munmap", 16 << 20)]
    (mapped,) = [e["args"] for _, _, e in calls(run, "mmap", file="map")]
    assert {"length", "prot", "flags", "offset"} <= mapped.keys()


def test_s16_asynchronous_by_raw_system_calls(bench):
    """The transfers are out of reach (docs/io.md); what libc does for the same file is not."""
    run = same(bench, "kernel.c", "asynchronous")
    if run.status:
        pytest.skip("the kernel refuses io_setup here")
    assert [n for n, f, _ in calls(run, file="in")] == ["open", "close"]
    assert "io_uring" in (harness.SOURCE / "docs" / "io.md").read_text()


@pytest.mark.skipif(os.getuid() != 0, reason="only root makes a program that runs as another user")
def test_s17_setuid_program(bench):
    """The loader ignores the preload; the program is unharmed."""
    program = bench.folder / "cat"
    program.write_bytes(pathlib.Path("/bin/cat").read_bytes())
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    for parent in [program.parent, *program.parents]:
        if parent.stat().st_uid == 0 and parent != pathlib.Path("/"):
            parent.chmod(parent.stat().st_mode | 0o111)
    folder = prepared(bench, "traced")
    run = bench.run([program, "in"], "preload", folder=folder)
    assert run.status == 0 and run.out == b"0123456789" * 10
    if b"cannot be preloaded" not in run.err:
        assert not list(run.log.iterdir())


def test_s19_modes(bench):
    run = same(bench, "names.c", "modes")
    assert run.out == b"600\n644\n666\n640\n604\n"
    assert [e["args"]["mode"] for _, f, e in calls(run, "open")] == [0o600, 0o644, 0o666, 0o640]
    assert args(run, "openat", "creat", key="mode") == [0o604, 0o631]
    temporary = [f for _, f, _ in calls(run, "write")]
    assert len(temporary) == 4 and all(f.startswith("#") for f in temporary), "the kernel's names of files without one"


def test_s54_long_names(bench):
    run = same(bench, "names.c", "lengths")
    assert run.status == 0
    cwd = str(run.folder / "cwd")
    failed = [f for _, f, e in calls(run, "open") if e["args"]["ret"] == -1]
    assert len(failed) == 22 and all(len(f) > 3900 for f in failed)
    (deep,) = [f for _, f, _ in calls(run, "write")]
    assert deep.endswith("/deep") and len(deep.encode()) > 4096 or deep == "deep", (cwd, deep[-300:])


def test_s86_siblings_are_not_listed(bench):
    folder = prepared(bench, "traced")
    cwd = folder / "cwd"
    for name in ("d/f", "data2/f", "d/sub/f", "d/out/f"):
        (cwd / name).parent.mkdir(parents=True, exist_ok=True)
        (cwd / name).write_text("x")
    env = {"DFTRACER_DATA_DIR": f"{cwd}/d", "DFTRACER_DATA_DIR_EXCLUDE": f"{cwd}/d/out"}
    run = bench.run(["cat", "d/f", "data2/f", "d/sub/f", "d/out/f"], "preload", folder=folder, env=env)
    assert run.out == b"xxxx" and {f for _, f, _ in calls(run, "open")} == {"d/f", "d/sub/f"}


# ---------------------------------------------------------------------------------------------------- other interposers


def test_s20_library_loaded_later(bench):
    library = harness.compile_program("io/programs/reads.c", "-shared", "-fPIC", "-DLIBRARY", bare=True)
    run = same(bench, "opens_library.c", library, 50)
    assert run.status == 0 and len(calls(run, "open", file="in")) == 51 and len(calls(run, "read", file="in")) == 51


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_s23_second_interposer(bench, first):
    program = harness.compile_program("io/programs/reads.c", bare=True)
    shim = harness.compile_program("io/programs/io_shim.c", "-shared", "-fPIC", bare=True)
    order = [str(harness.preload_library()), str(shim)]
    bare = bench.run([program, 30], None, folder=prepared(bench, "bare"), env={"LD_PRELOAD": shim})
    preload = ":".join(order if first == "ours" else order[::-1])
    traced = bench.run([program, 30], "preload", folder=prepared(bench, "traced"), env={"LD_PRELOAD": preload})
    harness.compare(bare, traced)
    for run in (bare, traced):
        assert (run.fact("opens"), run.fact("reads")) == (30, 30)
    assert len(calls(traced, "open", file="in")) == 30 and len(calls(traced, "read", file="in")) == 30


@pytest.mark.parametrize("target", ["log", "/proc/no"])
def test_s24_errno(bench, target):
    loops = 200000 if harness.LONG else 30000
    env = {"DFTRACER_WRITE_BUFFER_SIZE": "16K"} | ({"DFTRACER_LOG_FILE": "/proc/no/t"} if target != "log" else {})
    run = same(bench, "life.c", "errors", loops, env=env, notes=None if target == "log" else "any")
    assert run.status == 0
    if target == "log":
        assert len(calls(run, "pread", file="in")) == loops


def test_s25_constructors(bench):
    """A library's constructor of high priority: before ours, so its calls may be missing, but they work."""
    library = harness.compile_program("io/programs/reads.c", "-shared", "-fPIC", "-DLIBRARY", bare=True)
    program = harness.compile_program("io/programs/reads.c", f"{library}", f"-Wl,-rpath,{library.parent}", "-Wl,--no-as-needed", bare=True)
    run = run_both(bench, [program, 5], env={"LD_LIBRARY_PATH": library.parent})
    assert (run.folder / "cwd" / "early").exists() is False or (run.folder / "cwd" / "early").read_bytes() == b"early\n"
    assert len(calls(run, "open", file="in")) in (5, 6)


def allocators():
    import ctypes.util

    found = [n for n in map(ctypes.util.find_library, ("jemalloc", "tcmalloc_minimal", "tcmalloc", "mimalloc")) if n]
    return found or [pytest.param("none", marks=pytest.mark.skip(reason="no other allocator is installed"))]


@pytest.mark.parametrize("first", ["ours", "theirs"])
@pytest.mark.parametrize("allocator", allocators())
def test_s26_preloaded_allocators(bench, allocator, first):
    order = [str(harness.preload_library()), allocator]
    preload = ":".join(order if first == "ours" else order[::-1])
    argv = [sys.executable, "-I", "-S", "-c", "import threading\nfor i in range(20): open('in').read()\nprint(threading.active_count())"]
    bare = bench.run(argv, None, folder=prepared(bench, "bare"), env={"LD_PRELOAD": allocator})
    traced = bench.run(argv, "preload", folder=prepared(bench, "traced"), env={"LD_PRELOAD": preload})
    assert len(calls(harness.compare(bare, traced), "open", file="in")) == 20


# ------------------------------------------------------------------------------------------------------ life of a process


def test_s27_thread_exit_destructors(bench):
    threads = 200
    run = same(bench, "life.c", "thread_exits", threads)
    assert len(calls(run, "write", file="late")) + sum(run.lost().values()) == 4 * threads
    assert len(calls(run, "open", file="in")) == threads


def test_s28_last_moments(bench):
    program = harness.compile_program("io/programs/life.c", bare=True)
    for _ in range(200 if harness.LONG else 15):
        run = bench.run([program, "last"], "preload", folder=prepared(bench, "traced"))
        assert run.status == 3, run.err
        assert run.trace().records[-1]["name"] == "end"
        assert len(calls(run, "write", file="main")) == 1
        assert (run.folder / "cwd" / "destructor").stat().st_size == 1


def test_s29_each_event_once(bench):
    script = """
import os
for _ in range(500): os.stat("in")
for i in range(4):
    if os.fork() == 0:
        for _ in range(100 + i): os.stat("other")
        os._exit(0)
for _ in range(4): os.wait()
for _ in range(50): os.stat("link")
"""
    run = same_python(bench, script)
    stats = collections.Counter((f, e["pid"]) for n, f, e in calls(run, "stat", "fstatat", "statx") if f in ("in", "other", "link"))
    counts = sorted((f, n) for (f, _), n in stats.items())
    assert counts == [("in", 500), ("link", 50), ("other", 100), ("other", 101), ("other", 102), ("other", 103)]
    assert len(run.traces()) == 5
    for trace in run.traces():
        assert len({r["pid"] for r in trace.records}) == 1


def test_s30_fork_in_a_threaded_program(bench):
    script = """
import os, threading
stop = False
def work():
    while not stop:
        with open("in") as f: f.read()
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
bad = 0
for _ in range(%d):
    pid = os.fork()
    if pid == 0:
        for _ in range(10): os.close(os.open("other", os.O_RDONLY))
        os._exit(0)
    bad += os.waitpid(pid, 0)[1] != 0
stop = True
[t.join() for t in threads]
print(bad)
""" % (1000 if harness.LONG else 60)
    run = same_python(bench, script)
    assert run.out == b"0\n" and len(calls(run, "open", file="other")) == (10000 if harness.LONG else 600)


def test_s31_vfork(bench):
    run = same(bench, "life.c", "vforks", 300)
    assert run.out == b"ok\n"
    parents = calls(run, "open", file="parent")
    assert len(parents) == 300 and len({e["pid"] for _, _, e in parents}) == 1
    assert not calls(run, "open", file="in"), "a vfork child has no file"


def test_s31_subprocess_and_spawn(bench):
    script = """
import os, subprocess
for i in range(60):
    assert subprocess.run(["true"]).returncode == 0
    pid = os.posix_spawn("/bin/cat", ["cat", "in"], os.environ)
    os.waitpid(pid, 0)
    os.stat("other")
"""
    run = same_python(bench, script)
    assert len([f for _, f, _ in calls(run, "stat", "statx", file="other")]) == 60
    assert len(calls(run, "open", file="in")) == 60, "spawned programs are traced"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_s32_python_workers(bench, method):
    script = f"""
import multiprocessing as mp
def work(i):
    for _ in range(200): open("in").read()
if __name__ == "__main__":
    mp.set_start_method({method!r})
    workers = [mp.Process(target=work, args=(i,)) for i in range(3)]
    [p.start() for p in workers]
    [p.join() for p in workers]
    print([p.exitcode for p in workers])
"""
    run = same_python(bench, script)
    assert run.out == b"[0, 0, 0]\n"
    opens = calls(run, "open", file="in")
    assert len(opens) == 600 and len({e["pid"] for _, _, e in opens}) == 3


def test_s33_killed(bench):
    """All but the last flush interval is on disk."""
    script = "import os\nwhile True: os.write(fd, b'x') if (fd := os.open('grows', os.O_WRONLY | os.O_CREAT | os.O_APPEND)) else 0; os.close(fd)"
    path = bench.folder / "script.py"
    path.write_text(script)
    process, folder = bench.start([sys.executable, "-I", "-S", path], "preload", env={"DFTRACER_FLUSH_INTERVAL_MS": "20"})
    harness.wait_until(lambda: harness.on_disk(folder / "log", "write") > 1000, "events on disk")
    process.kill()
    run = bench.finish(process, folder)
    assert run.status == -signal.SIGKILL
    (trace,) = pfw.traces(run.log)
    records = harness.remains(trace).records
    written = [r for r in records if r.get("name") == "write"]
    assert len(written) > 1000 and harness.self_contained(records) is None


def test_s35_calls_in_handlers(bench):
    run = same(bench, "life.c", "handlers", 3000 if harness.LONG else 400)
    assert run.status == 0
    assert len(calls(run, "write", file="ticks")) + sum(run.lost().values()) >= 400


def test_s36_all_descriptors_closed(bench):
    run = same(bench, "life.c", "closed", 20000)
    assert run.status == 0
    assert len(calls(run, "pread")) == 20000 and len({f for _, f, _ in calls(run, "pread")}) == 40
    assert len(calls(run, "open", file="in")) == 300


def test_s37_relative_output(bench):
    folder = prepared(bench, "traced")
    env = {"DFTRACER_LOG_FILE": "../log/t"}
    run = bench.run(["sh", "-c", "cat in; cd /; exec ls /"], "preload", folder=folder, env=env)
    assert run.status == 0 and len(run.traces()) >= 3, run.err


def test_s38_same_pid_three_images(bench):
    script = "import os; open('in').read()"
    run = run_both(bench, ["sh", "-c", f'exec env {sys.executable} -I -S -c "{script}"'])
    assert len(calls(run, "open", file="in")) == 1 and len(run.traces()) >= 2
    assert len({t.path.name for t in run.traces()}) == len(run.traces())


def test_s39_tools_and_shells(bench):
    for argv in (["bash", "-c", "cat in | sort | uniq | wc -c"], ["git", "--version"], ["sh", "-c", "ls | head -1; env > /dev/null"]):
        run_both(bench, argv)


@pytest.mark.skipif(not harness.can_mount(), reason="mounting needs more rights than there are here")
def test_s41_disk_full(bench):
    folder = prepared(bench, "traced")
    with harness.Tmpfs(folder / "log", "size=256k"):
        argv = [harness.compile_program("io/programs/life.c", bare=True), "errors", "1000000"]
        run = bench.run(argv, "preload", folder=folder)
        assert run.status == 0 and run.out.count(b"\n") == 5
        assert [n for n in run.notes if "No space left" in n]


def test_s56_s57_order_and_nesting(bench):
    run = same(bench, "life.c", "errors", 1000, env={"DFTRACER_TIME_METRIC": "NS"})
    found = [e for _, _, e in calls(run, "pread")]
    assert all(a["ts"] + a["dur"] <= b["ts"] for a, b in zip(found, found[1:])) and any(e["dur"] for e in found)


def test_s82_without_metadata(bench):
    """Without args there are no sizes: the summary shows none, and does not call them 0."""
    run = same(bench, "streams.c", "blocks", env={"DFTRACER_INC_METADATA": "0"})
    rows = [r for r in harness.summary_rows(run.log) if r["name"] == "fwrite"]
    assert rows[0]["count"] == 1000 and not rows[0].get("bytes")


# -------------------------------------------------------------- faults of the original's release 2.2.0 under stress


@pytest.mark.parametrize("threads", [1, 8, 32])
def test_r2_no_call_of_many_threads_is_lost(bench, threads):
    turns = (20000 if harness.LONG else 1600) // threads
    run = same(bench, "threads.c", threads, turns)
    counts = collections.Counter((n, f) for n, f, _ in calls(run) if f and f.startswith("mine"))
    once, twice = ("open", "write", "pread", "dup", "read", "fopen", "fread", "fclose"), ("close",)
    wanted = {(n, f"mine{i}"): turns * times for i in range(threads) for names, times in ((once, 1), (twice, 2)) for n in names}
    assert counts == wanted


@pytest.mark.parametrize("how", ["execl", "execlp", "execle", "execv", "execvp", "fails"])
def test_r9_r10_exec(bench, how):
    """The new program gets its words; the images before lose nothing."""
    run = same(bench, "execs.c", how)
    assert run.out == (b"" if how == "fails" else b"2:a\n3:\n4:c d\n")
