# SPDX-License-Identifier: MIT
"""Real programs, held against `strace -f -y` of their untraced run: the same calls on the same files, and nothing else
that the program shows may differ. docs/io.md explains what is compared how. A program that is not here is skipped."""

import dataclasses
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys

import harness
import io_compare
import pytest
import strace

pytestmark = [
    pytest.mark.skipif(not strace.available(), reason="strace is not installed, shows no stacks, or may not trace here"),
    pytest.mark.skipif(harness.sanitizer() != "", reason="the preload library of a sanitizer build cannot be preloaded"),
]


def small_files(folder: pathlib.Path, count: int, name: str = "d") -> None:
    for i in range(count):
        path = folder / name / f"s{i % 4}" / f"f{i}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"line {i}\nneedle {i * i}\n" * (i % 7))
        os.utime(path, (1700000000, 1700000000))


@dataclasses.dataclass
class Comparison:
    traced: harness.Result
    traces: list
    calls: list[strace.Call]
    names: list[io_compare.Names]  # of the run under strace and of the traced one

    def made_by_program(self, allowed=()) -> None:
        """Every call that the programs made is in the trace once. `allowed`: patterns of keys, explained where given."""
        own = [c for c in self.calls if c.by_program and not c.in_vfork]
        assert own, "strace saw nothing"
        found = io_compare.differences(own, self.traces, self.names)
        lines = [l for l in found if not any(re.match(p, l) for p in allowed)]
        assert not lines, "\n" + "\n".join(lines[:40])

    def streams(self, image: str, way: str, file: str) -> tuple[int, int]:
        """Bytes of a file that libc moved by its streams, as strace and as the trace tell."""
        key = (image, way, file)
        return (
            io_compare.stream_bytes_of_strace(self.calls, self.names[0])[key],
            io_compare.stream_bytes_of_trace(self.traces, self.names[1]).get(key, 0),
        )


@pytest.fixture
def compare(bench):
    def run(argv, prepare=None, masks=(), env=None, mask=None, files=True, timeout=300, **how) -> Comparison:
        program = shutil.which(str(argv[0]))
        if not program:
            pytest.skip(f"{argv[0]} is not installed")
        folders = [bench.place("strace"), bench.place("preload")]
        for folder in folders:
            if prepare:
                prepare(folder / "cwd")
        output = folders[0] / "strace"
        watch = ["strace", "-f", "-y", "-k", "-s", "0", "-o", output, "-e", strace.TRACED, "--"]
        settings = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"} | (env or {})
        bare = bench.run(argv, None, folder=folders[0], wrap=watch, env=settings, timeout=timeout, **how)
        traced = bench.run(argv, "preload", folder=folders[1], env=settings, timeout=timeout, **how)
        if files:
            harness.compare(bare, traced, None, mask)
        else:
            assert (traced.status, traced.own_err) == (bare.status, bare.err), (bare.err[-500:], traced.err[-500:])
        calls = strace.parse(output.read_text(errors="surrogateescape"), str(folders[0] / "cwd"))
        return Comparison(traced, traced.traces(), calls, [io_compare.Names(str(f), masks) for f in folders])

    return run


def test_tar(compare):
    compare(["tar", "cf", "x.tar", "d"], lambda cwd: small_files(cwd, 40)).made_by_program()

    def prepare(cwd):
        small_files(cwd, 40)
        (cwd / "out").mkdir()
        shutil.make_archive(str(cwd / "x"), "tar", cwd, "d")

    compare(["tar", "xf", "x.tar", "-C", "out"], prepare).made_by_program()


def test_cp(compare):
    compare(["cp", "-r", "d", "e"], lambda cwd: small_files(cwd, 40)).made_by_program()


def test_rsync(compare):
    masks = ((r"/\.([^/]+)\.\w{6}$", r"/\1.XXXXXX"),)
    compare(["rsync", "-a", "d/", "e/"], lambda cwd: small_files(cwd, 24), masks).made_by_program()


def test_dd(compare):
    argv = ["dd", "if=in", "of=out", "bs=4096", "conv=fsync", "status=none"]
    compare(argv, lambda cwd: (cwd / "in").write_bytes(bytes(range(256)) * 800)).made_by_program()


def test_grep(compare):
    run = compare(["grep", "-r", "-c", "needle", "d"], lambda cwd: small_files(cwd, 40))
    run.made_by_program()


def test_find(compare):
    argv = ["find", "d", "-type", "f", "-size", "+0", "-name", "*1*"]
    compare(argv, lambda cwd: small_files(cwd, 40)).made_by_program()


def test_sort(compare):
    def prepare(cwd):
        (cwd / "in").write_text("".join(f"{i * 7919 % 100003}\n" for i in range(60000)))

    masks = ((r"/sort\w{6}$", "/sortXXXXXX"),)
    argv = ["sort", "-n", "-S", "200k", "--parallel=2", "-o", "out", "in"]
    run = compare(argv, prepare, masks)
    run.made_by_program()
    assert len(set(run.streams("sort", "write", "~/cwd/out"))) == 1
    assert len(set(run.streams("sort", "read", "~/cwd/in"))) == 1


def test_gzip(compare):
    compare(["gzip", "-k", "in"], lambda cwd: (cwd / "in").write_text("some text\n" * 30000)).made_by_program()
    compare(["gzip", "-d", "in.gz"], lambda cwd: (cwd / "in.gz").write_bytes(gzip.compress(b"x" * 300000, mtime=1))).made_by_program()


def test_sqlite3(compare):
    def prepare(cwd):
        lines = [f"insert into t values({i}, 'value {i}');" for i in range(200)]
        sql = ["create table t(a integer primary key, b text);", "begin;", *lines, "commit;", "select count(*), sum(a) from t;"]
        (cwd / "script.sql").write_text("\n".join([*sql, "pragma journal_mode=wal;", "delete from t where a % 3 = 0;", "vacuum;"]))

    compare(["sqlite3", "-batch", "x.db", ".read script.sql"], prepare).made_by_program()


def in_git_repository(cwd):
    repository = cwd / "repo"
    small_files(repository, 24)
    settings = ["-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false", "-c", "gc.auto=0"]
    stamps = {"GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000", "HOME": str(cwd)}
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run(["git", *settings, *command], cwd=repository, check=True, env=os.environ | stamps)


def test_git_clone(compare):
    masks = ((r"tmp_(obj|idx|pack)_\w{6}", r"tmp_\1_XXXXXX"), (r"/t\w{6}$", "/tXXXXXX"), (r"/pack-[0-9a-f]{40}", "/pack-X"))
    compare(["git", "clone", "-q", "repo", "copy"], in_git_repository, masks, files=False).made_by_program()


def test_gcc(compare):
    def prepare(cwd):
        (cwd / "x.c").write_text("#include <stdio.h>\nint main(void) { puts(\"x\"); return 0; }\n")

    masks = ((r"/cc\w{6}\.", "/ccXXXXXX."),)
    compare(["gcc", "-O1", "x.c", "-o", "x"], prepare, masks).made_by_program()


def test_python_reading_files(compare):
    """20,000 with DFT_LONG."""
    count = 20000 if harness.LONG else 300
    script = "import os\nn = 0\nfor root, _, names in os.walk('d'):\n    for name in names:\n        n += len(open(os.path.join(root, name), 'rb').read())\nprint(n)"
    run = compare([sys.executable, "-I", "-S", "-c", script], lambda cwd: small_files(cwd, count), timeout=3000)
    run.made_by_program()


def test_python_multiprocessing(compare):
    script = """
import multiprocessing as mp, os
def work(i):
    for k in range(10):
        with open(f"o{i}-{k}", "w") as f: f.write("x" * 100)
        os.stat("script.py")
if __name__ == "__main__":
    mp.set_start_method("fork")
    workers = [mp.Process(target=work, args=(i,)) for i in range(4)]
    [w.start() for w in workers]
    [w.join() for w in workers]
    print([w.exitcode for w in workers])
"""
    run = compare([sys.executable, "-I", "-S", "script.py"], lambda cwd: (cwd / "script.py").write_text(script))
    run.made_by_program()
    assert len({c.pid for c in run.calls if c.file and "/o" in c.file}) == 4
    assert len([t for t in run.traces if any(e["name"] == "open" for e in t.events)]) >= 5


def test_bash_with_subshells(compare):
    script = """
set -e
for i in 1 2 3 4; do (cd d; cat s0/f4 >> "../sum$i"); done
x=$(cat sum1 | wc -l); echo "$x"
while read -r line; do echo "$line" >> copy; done < sum2
{ echo a; ( echo b ); } > both; cat < both
exec 7> seven; echo seven >&7; exec 7>&-
test -f seven && rm seven
"""
    compare(["bash", "--norc", "-c", script], lambda cwd: small_files(cwd, 12)).made_by_program()


def test_dash_with_pipes(compare):
    script = "for i in 1 2 3; do echo $i > f$i; cat f$i | tr 1 2 | cat > g$i; done; cat g*"
    compare(["dash", "-c", script]).made_by_program()


def is_static(program: str) -> bool:
    return b"interpreter" not in subprocess.run(["file", "-L", program], capture_output=True).stdout


def test_busybox(compare, bench):
    program = shutil.which("busybox")
    if program and is_static(program):
        run = bench.same_command(["busybox", "echo", "x"])
        assert not list(run.log.iterdir())
        pytest.skip("busybox is static here: unharmed, and no trace, as it must be")
    compare(["busybox", "tar", "cf", "x.tar", "d"], lambda cwd: small_files(cwd, 12)).made_by_program()
    compare(["busybox", "cp", "-r", "d", "e"], lambda cwd: small_files(cwd, 12)).made_by_program()
    compare(["busybox", "grep", "-r", "needle", "d"], lambda cwd: small_files(cwd, 12)).made_by_program()


def test_static_go_program(bench):
    go = shutil.which("go")
    if not go:
        pytest.skip("go is not installed")
    source = bench.folder / "main.go"
    source.write_text('package main\nimport ("fmt"; "os")\nfunc main() { b, _ := os.ReadFile("/etc/hostname"); fmt.Print(string(b)); os.Exit(3) }\n')
    settings = {"CGO_ENABLED": "0", "GOCACHE": str(bench.folder / "cache"), "GOFLAGS": "-mod=mod", "HOME": str(bench.folder)}
    subprocess.run([go, "build", "-o", "prog", "main.go"], cwd=bench.folder, env=os.environ | settings, check=True)
    run = bench.same_command([bench.folder / "prog"])
    assert run.status == 3 and not list(run.log.iterdir())
    folder = bench.place("run")
    done = harness.dftracer("run", "-o", folder / "log" / "t", "--", bench.folder / "prog")
    assert done.returncode == 3 and "static" in done.stderr
