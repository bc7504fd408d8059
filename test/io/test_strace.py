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
import tempfile

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

    def check(self, streams=()) -> "Comparison":
        """Every call that the programs made themselves is in the trace once, and the streams' bytes are those that libc
        moved. `streams`: patterns of `image way file` for which the bytes differ, explained where given."""
        watched = [c for c in self.calls if not c.in_vfork]
        own = [c for c in watched if c.by_program]
        assert own, "strace saw nothing"
        lines = io_compare.differences(own, self.traces, self.names)
        assert not lines, "\n" + "\n".join(lines[:40])
        inside = io_compare.stream_differences([c for c in watched if not c.in_constructor], self.traces, self.names)
        lines = [l for l in inside if not any(re.match(p, l) for p in streams)]
        assert not lines, "\n" + "\n".join(lines[:40])
        return self


    def differences_at(self, pattern: str) -> list[str]:
        """Those of the files of this name, whoever made the calls; no file may be missing on either side."""
        one, other = io_compare.tally_of_strace([c for c in self.calls if c.kind], self.names[0]), io_compare.tally_of_trace(self.traces, self.names[1])
        keys = [key for key in sorted(one.keys() | other.keys()) if re.match(pattern, key[2])]
        assert keys, "strace saw nothing"
        return [f"{' '.join(key)}: strace {one.get(key)}; trace {other.get(key)}" for key in keys if one.get(key) != other.get(key)]


# Why the bytes of a stream may differ from those that libc moves (docs/io.md):
SEEKS = "reads less than libc put into the buffer: it seeks, or closes before the end"
MACROS = "getc_unlocked and putc_unlocked are macros that take from the buffer themselves"


def give_to(user: int, folder: pathlib.Path) -> None:
    for part in (folder, *(folder / name for name in ("cwd", "tmp", "log"))):
        os.chown(part, user, user)


@pytest.fixture
def open_bench():
    """In a folder that other users may enter: pytest closes its own whenever one starts."""
    with tempfile.TemporaryDirectory(prefix="dft-") as folder:
        os.chmod(folder, 0o755)
        yield harness.Bench(pathlib.Path(folder))


@pytest.fixture
def compare(bench, open_bench):
    def run(argv, prepare=None, masks=(), env=None, mask=None, files=True, timeout=300, user=None, stacks=True, **how) -> Comparison:
        program = shutil.which(str(argv[0]))
        if not program:
            pytest.skip(f"{argv[0]} is not installed")
        place = (open_bench if user else bench).place
        folders = [place("strace"), place("traced")]  # equally long: some programs write these names
        for folder in folders:
            if prepare:
                prepare(folder / "cwd")
            if user:
                give_to(user, folder)
                how["preexec"] = lambda: os.setuid(user)
        output = folders[0] / "strace"
        watch = strace.line(output, stacks)
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
    compare(["tar", "cf", "x.tar", "d"], lambda cwd: small_files(cwd, 40)).check()

    def prepare(cwd):
        small_files(cwd, 40)
        (cwd / "out").mkdir()
        shutil.make_archive(str(cwd / "x"), "tar", cwd, "d")

    compare(["tar", "xf", "x.tar", "-C", "out"], prepare).check()


def test_cp(compare):
    compare(["cp", "-r", "d", "e"], lambda cwd: small_files(cwd, 40)).check()


def test_rsync(compare):
    masks = ((r"/\.([^/]+)\.\w{6}$", r"/\1.XXXXXX"),)
    run = compare(["rsync", "-a", "d/", "e/"], lambda cwd: small_files(cwd, 24), masks)
    run.check([r"rsync (read|write) socket:"])  # in how many pieces, each with a head, it tells itself things depends on time


def test_dd(compare):
    argv = ["dd", "if=in", "of=out", "bs=4096", "conv=fsync", "status=none"]
    compare(argv, lambda cwd: (cwd / "in").write_bytes(bytes(range(256)) * 800)).check()


def test_grep(compare):
    run = compare(["grep", "-r", "-c", "needle", "d"], lambda cwd: small_files(cwd, 40))
    run.check([r"grep write ~/out:"])  # MACROS: the ends of lines


def test_find(compare):
    argv = ["find", "d", "-type", "f", "-size", "+0", "-name", "*1*"]
    compare(argv, lambda cwd: small_files(cwd, 40)).check()


def test_sort(compare):
    def prepare(cwd):
        (cwd / "in").write_text("".join(f"{i * 7919 % 100003}\n" for i in range(60000)))

    masks = ((r"/sort\w{6}$", "/sortXXXXXX"),)
    argv = ["sort", "-n", "-S", "200k", "--parallel=2", "-o", "out", "in"]
    compare(argv, prepare, masks).check()


def test_gzip(compare):
    compare(["gzip", "-k", "in"], lambda cwd: (cwd / "in").write_text("some text\n" * 30000)).check()
    compare(["gzip", "-d", "in.gz"], lambda cwd: (cwd / "in.gz").write_bytes(gzip.compress(b"x" * 300000, mtime=1))).check()


def test_sqlite3(compare):
    def prepare(cwd):
        lines = [f"insert into t values({i}, 'value {i}');" for i in range(200)]
        sql = ["create table t(a integer primary key, b text);", "begin;", *lines, "commit;", "select count(*), sum(a) from t;"]
        (cwd / "script.sql").write_text("\n".join([*sql, "pragma journal_mode=wal;", "delete from t where a % 3 = 0;", "vacuum;"]))

    compare(["sqlite3", "-batch", "x.db", ".read script.sql"], prepare).check()


def in_git_repository(cwd):
    repository = cwd / "repo"
    small_files(repository, 24)
    settings = ["-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false", "-c", "gc.auto=0"]
    stamps = {"GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000", "HOME": str(cwd)}
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run(["git", *settings, *command], cwd=repository, check=True, env=os.environ | stamps)


def test_git_clone(compare):
    masks = ((r"tmp_(obj|idx|pack)_\w{6}", r"tmp_\1_XXXXXX"), (r"/t\w{6}$", "/tXXXXXX"), (r"/pack-[0-9a-f]{40}", "/pack-X"))
    run = compare(["git", "clone", "-q", "repo", "copy"], in_git_repository, masks, files=False)
    run.check([r"git(-upload-pack)? read "])  # MACROS: its configuration


def test_gcc(compare):
    def prepare(cwd):
        (cwd / "x.c").write_text("#include <stdio.h>\nint main(void) { puts(\"x\"); return 0; }\n")

    masks = ((r"/cc\w{6}\.", "/ccXXXXXX."),)
    run = compare(["gcc", "-O1", "x.c", "-o", "x"], prepare, masks)
    run.check([r"(as|ld) read "])  # SEEKS; `as` puts a character back and reads it again


READER = """
import os
n = 0
for root, _, names in os.walk('d'):
    for name in names:
        n += len(open(os.path.join(root, name), 'rb').read())
print(n)
"""


def test_python_reading_files(compare):
    compare([sys.executable, "-I", "-S", "-c", READER], lambda cwd: small_files(cwd, 100)).check()


def test_python_reading_many_files(compare):
    """20,000 with DFT_LONG. Without stacks: all calls on these files are Python's own."""
    count = 20000 if harness.LONG else 1000
    run = compare([sys.executable, "-I", "-S", "-c", READER], lambda cwd: small_files(cwd, count), stacks=False)
    lines = run.differences_at(r"~/cwd/d/s\d/f\d+$")
    assert not lines, "\n" + "\n".join(lines[:40])


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
    run.check([r"python\S* read ~/cwd/script.py"])  # MACROS: the script
    assert len({c.pid for c in run.calls if c.file and "/cwd/o" in c.file}) == 4
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
    run = compare(["bash", "--norc", "-c", script], lambda cwd: small_files(cwd, 12))
    run.check([r"wc write pipe"])  # MACROS: the end of the line


def test_dash_with_pipes(compare):
    script = "for i in 1 2 3; do echo $i > f$i; cat f$i | tr 1 2 | cat > g$i; done; cat g*"
    compare(["dash", "-c", script]).check()


def is_static(program: str) -> bool:
    return b"interpreter" not in subprocess.run(["file", "-L", program], capture_output=True).stdout


def test_busybox(compare, bench):
    program = shutil.which("busybox")
    if program and is_static(program):
        run = bench.same_command(["busybox", "echo", "x"])
        assert not list(run.log.iterdir())
        pytest.skip("busybox is static here: unharmed, and no trace, as it must be")
    compare(["busybox", "tar", "cf", "x.tar", "d"], lambda cwd: small_files(cwd, 12)).check()
    compare(["busybox", "cp", "-r", "d", "e"], lambda cwd: small_files(cwd, 12)).check()
    compare(["busybox", "grep", "-r", "needle", "d"], lambda cwd: small_files(cwd, 12)).check()


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


def test_redis_with_append_only_file(compare):
    if not shutil.which("redis-server"):
        pytest.skip("redis-server is not installed")
    script = """
redis-server --port 0 --unixsocket ./x.sock --save '' --appendonly yes --appendfsync always --daemonize no --logfile log &
until redis-cli -s ./x.sock ping > /dev/null 2>&1; do :; done
for i in 1 2 3 4 5 6 7 8; do redis-cli -s ./x.sock set key$i value$i; redis-cli -s ./x.sock append list$i tail; done
redis-cli -s ./x.sock shutdown nosave
wait
"""
    # Descriptors keep the name under which they were opened; strace shows the file's name of the moment.
    masks = ((r"/temp-appendonly", "/appendonly"), (r"/temp-rewriteaof-\d+", "/temp-rewriteaof-N"))
    run = compare(["bash", "--norc", "-c", script], masks=masks, files=False)
    run.check([r"redis-server write ~/cwd/log"])  # tells process ids and times
    syncs = sum(c.kind in ("fsync", "fdatasync") for c in run.calls)
    assert syncs > 8, sorted({c.kind for c in run.calls})


def test_postgres_initdb(compare):
    """It refuses to run as root. Its 80,000 calls take strace with stacks minutes: with DFT_LONG."""
    if not harness.LONG:
        pytest.skip("takes minutes: DFT_LONG=1 runs it")
    folders = map(str, pathlib.Path("/usr/lib/postgresql").glob("*/bin"))  # Debian has it in no PATH
    program = shutil.which("initdb", path=os.pathsep.join([os.environ.get("PATH", ""), *folders]))
    if not program:
        pytest.skip("initdb is not installed")
    user = (65534 if os.getuid() == 0 else None, harness.preload_library())
    if user[0] and subprocess.run(["test", "-r", user[1]], preexec_fn=lambda: os.setuid(user[0])).returncode:
        pytest.skip("the build is not readable for another user than root")
    # postmaster.pid tells process ids, in as many digits as they have.
    masks = ((r"/PostgreSQL\.\d+$", "/PostgreSQL.N"), (r"/xlogtemp\.\d+$", "/xlogtemp.N"), (r".*/postmaster\.pid$", ""))
    argv = [program, "-D", "data", "-N", "-A", "trust", "--locale=C"]
    run = compare(argv, masks=masks, files=False, user=user[0], timeout=3000)
    # It reads PG_VERSION by fscanf, whose bytes nobody knows; libc maps locale.alias instead of reading it.
    run.check([r"postgres read \S*/PG_VERSION", r"locale read \S*/locale.alias"])
    assert run.traced.status == 0, run.traced.err


def test_ffmpeg(compare):
    video = ["-f", "lavfi", "-i", "testsrc=duration=1:size=64x64:rate=5", "-threads", "1", "-c:v", "mpeg4", "-fflags", "+bitexact", "out.avi"]
    run = compare(["ffmpeg", "-nostdin", "-v", "error", *video])
    run.check()
    assert (run.traced.folder / "cwd" / "out.avi").stat().st_size > 1000
