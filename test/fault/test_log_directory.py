# SPDX-License-Identifier: MIT
"""Where the trace goes: directories that are missing, refuse, move away, or are in use."""

import os
import pathlib
import re
import resource
import subprocess

import harness
import pfw
import pytest

REGIONS = "fault/programs/regions.c"
MODES = pytest.mark.parametrize("mode", ["function", "hybrid"])


@MODES
def test_a_missing_directory_is_made(bench, mode):
    target = bench.folder / "a" / "b" / "c" / "t"
    run = bench.same(REGIONS, 100, mode=mode, env={"DFTRACER_LOG_FILE": target})
    assert len(pfw.read_one(target.parent).named("work")) == 100
    assert not list(run.log.iterdir())


@MODES
def test_an_extension_in_the_prefix_is_kept(bench, mode):
    target = bench.folder / "x.pfw"
    bench.same(REGIONS, 10, mode=mode, env={"DFTRACER_LOG_FILE": target})
    (path,) = [p for p in bench.folder.iterdir() if p.name.startswith("x.pfw-") and p.name.endswith(".gz")]
    assert len(pfw.read(path).check().named("work")) == 10
    assert list(bench.folder.glob("*.pfw*")) == [path], "other readers take every such name for a trace"
    (index,) = bench.folder.glob("x_pfw-*.dfi")
    assert path.name.encode() in index.read_bytes()


def refused(bench, prefix, reason, mode, env=None):
    """The application is unharmed, and one line says what and why."""
    run = bench.same(REGIONS, 1000, 2, mode=mode, env={"DFTRACER_LOG_FILE": prefix} | (env or {}), notes=[reason])
    assert str(pathlib.Path(prefix).parent) in run.notes[0]


@MODES
def test_a_file_where_the_directory_should_be(bench, mode):
    (bench.folder / "file").write_text("mine")
    refused(bench, bench.folder / "file" / "t", "Not a directory|File exists", mode)
    assert (bench.folder / "file").read_text() == "mine"


@MODES
def test_a_directory_that_cannot_be_made(bench, mode):
    refused(bench, "/proc/no/such/t", "No such file or directory", mode)


@pytest.mark.skipif(not harness.can_mount(), reason="mounting a tmpfs is not permitted here")
def test_a_read_only_directory(bench):
    with harness.Tmpfs(bench.folder / "ro", "size=64k,ro") as folder:
        refused(bench, folder / "t", "Read-only file system", "function")
        refused(bench, folder / "new" / "folder" / "t", "Read-only file system", "function")


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_a_directory_without_permission(bench):
    folder = bench.folder / "closed"
    folder.mkdir(mode=0o500)
    refused(bench, folder / "t", "Permission denied", "function")


def test_no_inode_left(bench):
    if not harness.can_mount():
        pytest.skip("mounting a tmpfs is not permitted here")
    with harness.Tmpfs(bench.folder / "tiny", "size=64k,nr_inodes=1") as folder:
        refused(bench, folder / "t", "No space left on device", "function")


def test_a_prefix_that_is_too_long(bench):
    prefix = bench.folder / ("n" * 250)
    run = bench.same(REGIONS, 100, env={"DFTRACER_LOG_FILE": prefix}, notes=["File name too long"])
    assert run.status == 0
    run = bench.run([harness.compile_program(REGIONS), 100], "function", env={"DFTRACER_LOG_FILE": "/x" * 3000})
    assert run.status == 0 and len(run.notes) == 1 and "DFTRACER_LOG_FILE" in run.notes[0]
    (path,) = pfw.traces(run.folder / "cwd")
    assert path.name.startswith("trace-") and len(pfw.read(path).check().named("work")) == 100


def test_an_empty_prefix_is_the_default(bench):
    program = harness.compile_program(REGIONS)
    run = bench.run([program, 100], "function", env={"DFTRACER_LOG_FILE": ""})
    assert run.status == 0
    (path,) = pfw.traces(run.folder / "cwd")
    assert path.name.startswith("trace-") and len(pfw.read(path).check().named("work")) == 100


@MODES
def test_a_relative_prefix_survives_chdir(bench, mode):
    before = set(os.listdir("/"))
    program = harness.compile_program("fault/programs/leaves.c")
    child = harness.compile_program(REGIONS)
    argv = [program, child, 30] if mode == "hybrid" else [program]  # only the preload library sees exec yet
    run = bench.run(argv, mode, env={"DFTRACER_LOG_FILE": "./out/t"})
    assert run.status == 0 and b"done" in run.out and not run.notes
    out = run.folder / "cwd" / "out"
    traces = [t.check() for t in pfw.read_all(out)]
    counts = sorted(len(t.named("work")) for t in traces)
    if mode == "hybrid":
        assert counts == [5, 20, 30], "the parent, its forked child, and the program started by exec"
    else:
        assert counts == [5, 20]
    assert {n for n in set(os.listdir("/")) - before if n.startswith("out") or ".pfw" in n} == set()


def test_the_directory_is_removed_during_the_run(bench):
    """The file is open by then: the application is unharmed whatever comes of the trace."""
    run = bench.same("fault/programs/leaves.c", "/bin/rm", "-rf", bench.folder / "gone", env={"DFTRACER_LOG_FILE": bench.folder / "gone" / "t"}, notes="any")
    assert run.status == 0


def test_two_runs_of_one_command_share_a_prefix(bench):
    program = harness.compile_program(REGIONS)
    folder = bench.place("both")
    first = bench.run([program, 100], "function", folder=folder)
    content = {p: p.read_bytes() for p in first.log.iterdir()}
    second = bench.run([program, 200], "function", folder=folder)
    assert len(second.traces()) == 2 and second.count("work") == 300
    assert all(p.read_bytes() == data for p, data in content.items())


def test_many_at_once_share_a_prefix(bench):
    program = harness.compile_program(REGIONS)
    folder = bench.place("many")
    running = [bench.start([program, 50], "function", folder=folder)[0] for _ in range(16)]
    assert [p.wait(60) for p in running] == [0] * 16
    traces = [t.check() for t in pfw.read_all(folder / "log")]
    assert len(traces) == 16 and all(len(t.named("work")) == 50 for t in traces)


@MODES
@pytest.mark.parametrize("removed", ["file", "directory"])
def test_a_trace_removed_while_it_is_written_is_said_to_be_lost(bench, mode, removed):
    """Also the events that were in it; and it is not made again in a place that somebody cleared."""
    run = bench.same("fault/programs/removes_trace.c", 1000, 50000, removed, mode=mode, notes="any", env=harness.NO_IO)
    assert run.status == 0 and run.log.exists() == (removed == "file") and not list(run.log.glob("*"))
    assert re.search(r"^cannot write .*: the file was removed or replaced: \d+ events lost so far", run.notes[0]), run.notes
    assert re.search(r"^51000 events are missing from .*, and its `end`", run.notes[-1]), run.notes
    assert len(run.notes) == 2


def into_a_deleted_directory():
    os.mkdir("gone")
    os.chdir("gone")
    os.rmdir("../gone")


@MODES
def test_a_deleted_directory_has_no_place_for_a_relative_prefix(bench, mode):
    before = set(os.listdir("/"))
    env = {"DFTRACER_LOG_FILE": "./t", "DFTRACER_INIT": mode.upper()}
    run = bench.same(REGIONS, 10, mode=mode, env=env, notes=["current directory was deleted.*DFTRACER_LOG_FILE"], preexec=into_a_deleted_directory)
    assert not list(run.log.iterdir())
    assert set(os.listdir("/")) == before


@MODES
def test_an_absolute_prefix_needs_no_current_directory(bench, mode):
    run = bench.same(REGIONS, 10, mode=mode, preexec=into_a_deleted_directory)
    assert run.count("work") == 10


QUIET = "fault/programs/data_as_stderr.c"
NOWHERE = {"DFTRACER_LOG_FILE": "/proc/none/t"}


@MODES
@pytest.mark.parametrize("pipe", ["closed", "full"])
def test_a_pipe_that_takes_no_line_harms_nobody(bench, pipe, mode):
    read, write = os.pipe()
    if pipe == "closed":
        os.close(read)
    else:
        os.set_blocking(write, False)
        with pytest.raises(BlockingIOError):
            while True:
                os.write(write, bytes(4096))
        os.set_blocking(write, True)
    run = bench.run([harness.compile_program(QUIET), "kept"], mode, env=NOWHERE, preexec=lambda: os.dup2(write, 2))
    assert run.status == 0


@MODES
def test_a_file_that_may_not_grow_takes_no_line_and_harms_nobody(bench, mode):
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    run = bench.run([harness.compile_program(QUIET), "kept"], mode, env=NOWHERE, preexec=limited)
    assert run.status == 0 and not run.err


@MODES
def test_no_line_lands_in_a_file_of_the_application(bench, mode):
    bench.same(QUIET, "closed", mode=mode, env=NOWHERE | harness.NO_IO)


@pytest.mark.parametrize("what", ["folder", "file"])
def test_run_finds_its_traces_beside_what_has_the_name_of_the_prefix(tmp_path, what):
    """`dftracer run -o traces` with a folder `traces`: it looked inside, said that no event was recorded, and left the
    crash file of a killed program alone."""
    prefix = tmp_path / "traces"
    prefix.mkdir() if what == "folder" else prefix.write_text("mine")
    command = [harness.command(), "run", "-o", prefix, "--"]
    done = subprocess.run([*command, "cat", "/etc/passwd"], capture_output=True, text=True)
    assert done.returncode == 0 and "dftracer: 1 trace: " in done.stderr, done.stderr
    command.insert(2, "--crash-safe")
    done = subprocess.run([*command, "sh", "-c", "read x < /etc/passwd; kill -9 $$"], capture_output=True, text=True)
    assert done.returncode == -9 and "dftracer: recovered " in done.stderr, done.stderr
    assert not list(tmp_path.glob("*.dfcrash"))
    if what == "folder":
        done = subprocess.run([harness.command(), "validate", prefix], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.count(": valid") == 2, done.stdout + done.stderr


def test_run_names_an_option_that_it_does_not_have():
    done = subprocess.run([harness.command(), "run", "--crashsafe", "--", "true"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("dftracer: run: no such option: --crashsafe"), done.stderr
    done = subprocess.run([harness.command(), "run", "-o", "", "--", "true"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
