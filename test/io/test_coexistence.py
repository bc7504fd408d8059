# SPDX-License-Identifier: MIT
"""Beside others in the same process: older versions of libc's functions, other interposers and allocators, libraries that
look at themselves first, a sanitizer's runtime."""

import pathlib
import platform
import shutil
import subprocess

import harness
import pytest

ALLOCATORS = ["libjemalloc.so.2", "libtcmalloc_minimal.so.4"]
WHOLE = ["open", "write", "pread", "close", "fopen", "fread", "fclose"]
PROGRAM = "io/programs/annotated.c"


def io_of(trace, name):
    return [
        e["name"]
        for e in trace.events
        if e["cat"] in ("POSIX", "STDIO") and e["name"] in WHOLE and "fhash" in e["args"] and trace.resolve(e["args"]["fhash"]).endswith("/cwd/" + name)
    ]


def system_library(name) -> pathlib.Path:
    text = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    for line in text.splitlines():
        if line.split()[:1] == [name]:
            return pathlib.Path(line.rsplit(" ", 1)[1])
    pytest.skip(f"{name} is not installed")


# ---------------------------------------------------------------------------------------------- versions of functions


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other architectures have one version of each")
def test_callers_of_an_older_version_get_the_older_function(bench):
    run = bench.same_command([harness.compile_program("io/programs/versions.c", bare=True)])
    old, new = run.out.splitlines()[0::2], run.out.splitlines()[1::2]
    assert len(old) == 4 and all(o.split(b" ", 1)[1] != n.split(b" ", 1)[1] for o, n in zip(old, new)), run.out
    names = [e["name"] for t in run.traces() for e in t.events]
    assert [names.count(n) for n in ("realpath", "nftw", "fmemopen")] == [1, 1, 1]  # of the new ones


# --------------------------------------------------------------------------------------------- interposers, allocators


@pytest.mark.parametrize("mode", ["function", "hybrid"])
@pytest.mark.parametrize("ours_first", [False, True])
def test_another_interposer_still_sees_each_call_once(bench, ours_first, mode):
    shim = harness.compile_program("io/programs/io_shim.c", "-shared", "-fPIC", bare=True)
    both = [harness.preloaded(), str(shim)] if mode == "hybrid" else [str(shim)]
    preload = ":".join(both if ours_first else both[::-1])
    bare = bench.run([harness.compile_program(PROGRAM, bare=True), "init", "io:in"], None, env={"LD_PRELOAD": shim})
    run = bench.run([harness.compile_program(PROGRAM), "init", "io:in"], mode, env={"LD_PRELOAD": preload})
    (trace,) = harness.compare(bare, run).traces()
    assert io_of(trace, "in") == WHOLE
    assert run.fact("opens") == bare.fact("opens") == 1


@pytest.mark.parametrize("own_core", [False, True])
@pytest.mark.parametrize("ours_first", [False, True])
def test_two_installations_trace_each_call_once(bench, ours_first, own_core):
    """As where one is preloaded by a module file and the other by `dftracer run`. `own_core`: of another version, so that the
    loader does not give both the same core."""
    copy = bench.folder / "other"
    copy.mkdir()
    name, other_name = (b"libdftracer_core.so.4", b"libdftracer_core.so.3" if own_core else b"libdftracer_core.so.4")
    for library, wanted in ((harness.core_library(), other_name.decode()), (pathlib.Path(harness.preloaded()), "libdftracer_preload.so")):
        (copy / wanted).write_bytes(library.read_bytes().replace(name + b"\0", other_name + b"\0"))
    both = [harness.preloaded(), str(copy / "libdftracer_preload.so")]
    env = {"LD_PRELOAD": ":".join(both if ours_first else both[::-1])}
    program = [harness.compile_program(PROGRAM, bare=True), "init", "io:in", "fork", "io:after"]
    run = harness.compare(bench.run(program), bench.run(program, "preload", env=env, timeout=10))
    assert sorted(name for t in run.traces() for name in io_of(t, "in")) == sorted(WHOLE)


@pytest.mark.parametrize("handles", ["libc's", "own"])
@pytest.mark.parametrize("mode", ["function", "hybrid"])
@pytest.mark.parametrize("ours_first", [False, True])
def test_the_tracers_own_thread_records_nothing_whoever_makes_calls_on_it(bench, ours_first, mode, handles):
    flags = ["-DOWN_HANDLES"] if handles == "own" else []
    shim = harness.compile_program("io/programs/thread_shim.c", "-shared", "-fPIC", *flags, bare=True)
    both = [harness.preloaded(), str(shim)] if mode == "hybrid" else [str(shim)]
    env = {"LD_PRELOAD": ":".join(both if ours_first else both[::-1])}
    words = ["init", "thread:a", "thread:b", "fini", "io:c", "init", "thread:d"]
    bare = bench.run([harness.compile_program(PROGRAM, bare=True), *words], None, env={"LD_PRELOAD": shim})
    run = harness.compare(bare, bench.run([harness.compile_program(PROGRAM), *words], mode, env=env))
    assert run.fact("started") > bare.fact("started") == 3  # the tracer's threads came by
    of_threads = [(t, e) for t in run.traces() for e in t.events if e["cat"] in ("POSIX", "STDIO") and e["tid"] != e["pid"]]
    threads = {e["tid"] for _, e in of_threads}
    assert len(threads) == 3
    opened = [(e["tid"], t.resolve(e["args"]["fhash"]).rsplit("/", 1)[1]) for t, e in of_threads if e["name"] == "open"]
    for tid in threads:
        assert [name for thread, name in opened if thread == tid][::2] == ["born", "gone"]
        assert [e["name"] for _, e in of_threads if e["tid"] == tid].count("pipe") == 2


@pytest.mark.skipif(harness.sanitizer() != "", reason="the runtime has threads of its own")
def test_the_main_thread_may_leave_while_another_names_the_threads(bench):
    shim = harness.compile_program("io/programs/thread_shim.c", "-shared", "-fPIC", "-DOWN_HANDLES", bare=True)
    run = bench.same("fault/programs/ends.c", "pthread_exit", 2, 3, env={"LD_PRELOAD": shim})
    assert run.fact("started") == 1 and run.count("work") == 5 and run.traces()[0].end


@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("words", [["init", "io:a", "fork", "io:b", "fini", "init", "io:c"]])
def test_an_allocator_in_front_of_a_bound_program(bench, allocator, words):
    if harness.sanitizer():
        pytest.skip("the product brings an allocator itself")
    env = {"LD_PRELOAD": system_library(allocator)}
    bare = bench.run([harness.compile_program(PROGRAM, bare=True), *words], None, env=env)
    run = harness.compare(bare, bench.run([harness.compile_program(PROGRAM), *words], "function", env=env))
    for name in "abc":
        assert sum((io_of(t, name) for t in run.traces()), []) == WHOLE


def test_a_library_that_looks_at_itself_first_is_traced_when_preloaded(bench):
    plugin = harness.compile_program("io/programs/plugin.c", "-shared", "-fPIC", bare=True)
    lazy = harness.compile_program("io/programs/plugin.c", "-shared", "-fPIC", "-Wl,-z,lazy", bare=True)
    run = bench.same(PROGRAM, "io:a", f"deep:{plugin}", "io:b", f"deep:{lazy}", "fork", mode="preload")
    parent = next(t for t in run.traces() if "-preload" in t.path.name)
    assert io_of(parent, "plugin.txt") == ["open", "write", "close"] * 2
    assert io_of(parent, "a") == io_of(parent, "b") == WHOLE  # once each
    assert parent.end["args"]["dlopen"] == 2


# -------------------------------------------------------------------------------------------------- sanitizers' runtimes


def sanitized(kind, compiler, *flags):
    """The program, built; skips where this compiler has no such runtime."""
    if harness.sanitizer():
        pytest.skip("the product is built with one itself")
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    source = harness.SOURCE / "test/io/programs/sanitized.c"
    folder = harness.BUILD / "test-programs"
    folder.mkdir(exist_ok=True)
    target = folder / f"sanitized-{kind}-{compiler}-{len(flags)}"
    line = [compiler, "-g", "-w", "-pthread", f"-fsanitize={kind}", str(source), "-o", str(target), *flags]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"{compiler} has no runtime for -fsanitize={kind}")
    return target


def runtime(kind) -> str:
    """The shared runtime that gcc's programs need, which wants to be first."""
    name = {"address": "libasan.so", "thread": "libtsan.so"}.get(kind)
    if name is None:
        return ""
    path = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()
    return str(pathlib.Path(path).resolve())


KINDS = ["address", "thread", "undefined", "leak"]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_sanitized_program_runs_and_is_traced_when_preloaded(bench, kind, compiler):
    program = sanitized(kind, compiler)
    first = runtime(kind) if compiler == "gcc" else ""
    preload = ":".join(filter(None, [first, harness.preloaded()]))
    bare = bench.run([program], None)
    run = harness.compare(bare, bench.run([program], "preload", env={"LD_PRELOAD": preload}))
    assert run.status == 0
    trace = next(t for t in run.traces() if "-preload" in t.path.name)
    for name in ("a", "b"):
        assert sorted(io_of(trace, name)) == sorted(["open", "write", "close", "fopen", "fread", "fclose"] * 50)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_sanitized_program_runs_and_is_traced_when_annotated(bench, kind, compiler):
    folder = harness.core_library().parent
    include = [f"-I{harness.SOURCE}/include", f"-I{harness.BUILD}/include"]
    program = sanitized(kind, compiler, "-DANNOTATED", *include, f"-L{folder}", "-ldftracer_core", f"-Wl,-rpath,{folder}")
    bare = bench.run([program], None)
    inside = compiler == "clang" and kind in ("address", "thread")  # the runtime is part of the program
    said = [r"the sanitizer inside this program .* \(dftracer run\)"] if inside else None
    run = harness.compare(bare, bench.run([program], "function"), said)
    assert run.status == 0
    trace = next(t for t in run.traces() if "-app" in t.path.name)
    for name in () if inside else ("a", "b"):
        assert sorted(io_of(trace, name)) == sorted(["open", "write", "close", "fopen", "fread", "fclose"] * 50)


@pytest.mark.parametrize("options", [None, "exitcode=9"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_run_command_traces_a_sanitized_program(bench, kind, compiler, options):
    program = sanitized(kind, compiler)
    folder = bench.place("run")
    env = {} if options is None else {"ASAN_OPTIONS": options}
    done = harness.dftracer("run", "-o", folder / "log" / "t", "--", program, env=env, cwd=folder / "cwd")
    assert done.returncode == 0 and done.stdout == "done\n", done.stderr
    result = harness.Result(0, b"", b"", folder)
    trace = next(t for t in result.traces() if "-preload" in t.path.name)
    assert sorted(io_of(trace, "a")) == sorted(["open", "write", "close", "fopen", "fread", "fclose"] * 50)


def test_gccs_address_sanitizer_says_that_it_wants_to_be_first(bench):
    program = sanitized("address", "gcc")
    run = bench.run([program], "preload")
    assert run.status != 0 and b"ASan runtime does not come first" in run.err
