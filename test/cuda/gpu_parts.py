#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What only a machine with an NVIDIA GPU can show, in parts. run_on_gpu.sh runs them all.

    gpu_parts.py PART KIT OUT      one line `RESULT PART: ...` on stdout; exit status 1 when a promise does not hold

KIT is what collect_for_gpu.sh gathered: lib/, bin/, programs/ and these scripts.
"""

import concurrent.futures
import glob
import gzip
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PART, KIT, OUT = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
WORK = pathlib.Path(tempfile.mkdtemp(prefix=f"gpu-{PART}-"))
LAUNCHES = int(os.environ.get("GPU_LAUNCHES", 1_000_000))
ROUNDS = int(os.environ.get("GPU_ROUNDS", 9))
RUNS = int(os.environ.get("GPU_RUNS", 100))
TRUTHS = int(os.environ.get("GPU_TRUTHS", 20_000))
PROGRAMS = KIT / "programs"


def cudart():
    """A libcudart of this machine, or the one that was carried."""
    for pattern in ("/usr/local/cuda*/lib64/libcudart.so", "/opt/*/.venv/lib/python3*/site-packages/nvidia/cu13/lib/libcudart.so.*"):
        for path in sorted(glob.glob(pattern)):
            return path
    carried = sorted((KIT / "vendor").glob("libcudart.so*"))
    return str(carried[0]) if carried else "libcudart.so"


def cupti():
    if os.environ.get("GPU_CUPTI"):
        return os.environ["GPU_CUPTI"]
    for pattern in (
        "/usr/local/cuda*/lib64/libcupti.so",
        "/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so",
        "/opt/*/.venv/lib/python3*/site-packages/nvidia/cu13/lib/libcupti.so.*",
        str(KIT / "vendor" / "libcupti.so*"),
    ):
        for path in sorted(glob.glob(pattern)):
            return path
    return None


def plain(**extra):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("DFTRACER_", "CUDA_INJ", "NVTX_INJ"))}
    env.update(extra)
    return env


def traced(prefix, **extra):
    """Preloaded, as `dftracer run` does it."""
    found = cupti()
    named = {"DFTRACER_CUPTI_PATH": found} if found else {}
    preload = {"DFTRACER_INIT": "PRELOAD", "LD_PRELOAD": str(KIT / "lib" / "libdftracer_preload.so")}
    return plain(**{"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(prefix), **preload, **named, **extra})


def api(prefix, **extra):
    env = traced(prefix, **extra)
    del env["LD_PRELOAD"], env["DFTRACER_INIT"]
    return env


def bare(**extra):
    found = cupti()
    named = {"BARE_CUPTI": found} if found else {}
    return plain(CUDA_INJECTION64_PATH=str(PROGRAMS / "libbare_cupti.so"), **named, **extra)


class Done:
    """A finished process: status, output, wall seconds, peak bytes."""

    def __init__(self, command, env, limit=120):
        self.ended = False
        begin = time.monotonic()
        out = tempfile.TemporaryFile()
        err = tempfile.TemporaryFile()
        process = subprocess.Popen([str(c) for c in command], env=env, stdout=out, stderr=err, cwd=WORK)
        watch = concurrent.futures.ThreadPoolExecutor(1)
        killer = watch.submit(self.end_in_time, process.pid, limit)
        _, status, usage = os.wait4(process.pid, 0)
        self.ended = True
        self.wall = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        self.status = process.returncode
        self.peak = usage.ru_maxrss * 1024
        self.cpu = usage.ru_utime + usage.ru_stime
        out.seek(0)
        err.seek(0)
        self.out, self.err = out.read().decode(errors="replace"), err.read().decode(errors="replace")
        killer.result()

    def end_in_time(self, pid, limit):
        until = time.monotonic() + limit
        while time.monotonic() < until:
            if self.ended:
                return
            time.sleep(0.005)
        os.kill(pid, 9)

    def figure(self, name):
        return float(re.search(rf"{name}=([0-9.]+)", self.out).group(1))


def lines_of(prefix):
    for path in sorted(glob.glob(f"{prefix}*.pfw*")):
        with gzip.open(path, "rt") as lines:
            for line in lines:
                yield json.loads(line)


def grep_count(prefix, *texts):
    """Lines that hold each of the texts, without parsing millions of them."""
    counts = dict.fromkeys(texts, 0)
    lines = 0
    for path in glob.glob(f"{prefix}*.pfw.gz"):
        with gzip.open(path, "rb") as file:
            while block := file.read(1 << 24):
                block += file.readline()
                lines += block.count(b"\n")
                for text in texts:
                    counts[text] += block.count(text.encode())
    return counts, lines


def end_of(prefix):
    ends = []
    for path in sorted(glob.glob(f"{prefix}*.pfw.gz")):
        with gzip.open(path, "rb") as file:
            last = b""
            while block := file.read(1 << 24):
                last = (last + block)[-65536:]
        ends += [json.loads(l) for l in last.splitlines()[1:] if b'"name":"end"' in l]
    return ends


def size_of(prefix):
    return sum(os.path.getsize(f) for f in glob.glob(f"{prefix}*.pfw.gz"))


def result(good, text):
    print(f"RESULT {PART}: {'ok' if good else 'FAILED'}: {text}", flush=True)
    return 0 if good else 1


def keep(prefix, name):
    """A trace that shows a failure goes home, if it is small."""
    folder = OUT / "detail" / name
    folder.mkdir(parents=True, exist_ok=True)
    for path in glob.glob(f"{prefix}*"):
        if os.path.getsize(path) < 2 << 20:
            shutil.copy(path, folder)


# ------------------------------------------------------------------------------------------------------------- parts


def machine():
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    smi = shutil.which("nvidia-smi") and subprocess.run(query, capture_output=True, text=True).stdout.strip()
    return result(True, f"{smi}; kernel {os.uname().release}; {os.cpu_count()} cores; cupti {cupti()}; cudart {cudart()}")


def one_workload(number, argument="", **extra):
    prefix = WORK / f"w{number}" / "t"
    done = Done([PROGRAMS / "workload", cudart(), argument], api(prefix, **extra), 60)
    if done.status != 0:
        return number, done.status, f"program: {done.out} {done.err}"
    command = [sys.executable, HERE / "check_cuda_trace.py", f"{prefix}*"]
    if extra.get("DFTRACER_CUDA_GRAPH") == "node":
        command += ["--graph", "node"]
    check = subprocess.run(command, capture_output=True, text=True)
    if check.returncode != 0:
        keep(prefix, f"workload-{number}")
    notes = [line for line in done.err.splitlines() if line.startswith("dftracer: ")]
    return number, check.returncode or len(notes), done.err + check.stdout


def workload():
    """The test's program and its check, many times; then graph nodes, all API calls, NS."""
    first = one_workload("first")
    text = first[2].strip().splitlines()[-1] if first[2].strip() else ""
    print(text)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(one_workload, range(RUNS)))
    bad = [r for r in runs if r[1] != 0]
    for run in bad[:3]:
        print(run[0], run[1], run[2][-1500:])
    variants = {
        "node": {"DFTRACER_CUDA_GRAPH": "node"},
        "all": {"DFTRACER_CUDA_API": "all"},
        "ns": {"DFTRACER_TIME_METRIC": "NS"},
        "mangled-short": {"DFTRACER_CUDA_BUFFER_SIZE": "64K"},
    }
    failed = []
    for name, extra in variants.items():
        done = one_workload(name, **extra)
        if done[1] != 0:
            failed.append(name)
            print(name, done[2][-1500:])
    return result(not bad and not failed and first[1] == 0, f"{RUNS - len(bad)} of {RUNS}; variants failed {failed}; {text}")


def truth():
    texts, good = [], True
    for metric in ("NS", "US"):
        prefix = WORK / metric / "t"
        done = Done([PROGRAMS / "truth", TRUTHS], api(prefix, DFTRACER_TIME_METRIC=metric), 100)
        check = subprocess.run([sys.executable, HERE / "check_cuda_truth.py", f"{prefix}*", str(TRUTHS)], capture_output=True, text=True)
        texts.append(check.stdout.strip().splitlines()[-1] if check.stdout.strip() else check.stderr[-300:] + done.err[-300:])
        if check.returncode != 0:
            good = False
            print(check.stdout[-1500:], done.err[-500:])
            keep(prefix, f"truth-{metric}")
    return result(good, " | ".join(texts))


def counts():
    """Kernels in the trace = launches, from 1, 8 and 32 threads."""
    texts, good = [], True
    for threads in (1, 8, 32):
        prefix = WORK / f"c{threads}" / "t"
        done = Done([PROGRAMS / "launches", threads, LAUNCHES], traced(prefix), 100)
        found, lines = grep_count(prefix, '"cat":"CUDA_KERNEL"', '"name":"cuLaunchKernel"', '"clock_suspect":"')
        ends = end_of(prefix)
        lost = ends[0]["args"]["lost"] if ends else "no end"
        kernels, calls, suspect = found.values()
        good = good and done.status == 0 and kernels == LAUNCHES and not lost
        events = max(1, kernels + calls)
        texts.append(
            f"{threads} threads: {kernels} kernels, {calls} calls, lost {lost}, suspect {suspect}, "
            f"{size_of(prefix) / events:.1f} B an event, wall {done.wall:.1f} s, cpu {done.cpu:.1f} s, peak {done.peak / 2**20:.0f} MB"
        )
        if done.err:
            print(done.err[-500:])
        if threads == 8:
            print(json.dumps(ends[0]["args"].get("gpu") if ends else None))
        shutil.rmtree(prefix.parent, ignore_errors=True)
    return result(good, " | ".join(texts))


def rounds():
    """untraced / bare CUPTI / traced, interleaved: the launch loop and the whole process."""
    launches = max(1000, LAUNCHES // 5)
    variants = {
        "untraced": lambda n: plain(),
        "bare": lambda n: bare(),
        "traced": lambda n: traced(WORK / f"r{n}" / "t"),
        "all": lambda n: traced(WORK / f"a{n}" / "t", DFTRACER_CUDA_API="all"),
    }
    loop, whole, peak = ({v: [] for v in variants} for _ in range(3))
    size = events = 0
    for number in range(ROUNDS + 1):  # the first warms up
        for name, environment in variants.items():
            done = Done([PROGRAMS / "launches", 1, launches], environment(number), 60)
            if done.status != 0:
                print(name, done.status, done.out, done.err[-500:])
                return result(False, f"{name} ends with {done.status}")
            if number == 0:
                continue
            loop[name].append(done.figure("launch_ns"))
            whole[name].append(done.wall)
            peak[name].append(done.peak)
        if number == 1:
            prefix = WORK / "r1" / "t"
            found, lines = grep_count(prefix, '"type":14')
            size, events = size_of(prefix), found['"type":14']
        shutil.rmtree(WORK / f"a{number}", ignore_errors=True)
        shutil.rmtree(WORK / f"r{number}", ignore_errors=True)
    median = statistics.median
    ratio = {v: median(a / b for a, b in zip(loop[v], loop["bare"])) for v in variants}
    spread = {v: f"{min(loop[v]):.0f}..{max(loop[v]):.0f}" for v in variants}
    extra = {v: median((a - b) / launches * 1e9 for a, b in zip(whole[v], whole["bare"])) for v in variants}
    memory = {v: median(peak[v]) / 2**20 for v in variants}
    text = f"{ROUNDS} rounds of {launches} launches; "
    for v in variants:
        text += (
            f"{v}: loop median {median(loop[v]):.0f} ns ({spread[v]}), ratio to bare {ratio[v]:.3f}, whole process "
            f"{extra[v]:+.0f} ns a launch over bare, median {median(whole[v]):.2f} s, peak {memory[v]:.0f} MB; "
        )
    good = ratio["traced"] <= 1.10 and extra["traced"] <= 1000 and memory["traced"] - memory["bare"] <= 32
    return result(good, text + f"{size / max(1, events):.1f} gz bytes an event of {events}")


def tail():
    """Where the time between the last launch and the end of the process goes: outside the loop, by way of ending, by
    what is recorded, by the number of launches."""
    texts = []
    for launches in (10_000, 50_000, 200_000):
        for name, env, how in (
            ("untraced", plain(), "return"),
            ("bare", bare(), "return"),
            ("traced", traced(WORK / "x" / "t"), "return"),
            ("traced _exit", traced(WORK / "x" / "t"), "_exit"),
            ("kernels", traced(WORK / "x" / "t", DFTRACER_CUDA_CATEGORIES="CUDA_KERNEL"), "return"),
            ("calls", traced(WORK / "x" / "t", DFTRACER_CUDA_CATEGORIES="CUDA_DRIVER_API"), "return"),
            ("flush 100 ms", traced(WORK / "x" / "t", DFTRACER_FLUSH_INTERVAL_MS="100"), "return"),
            ("256 KiB", traced(WORK / "x" / "t", DFTRACER_CUDA_BUFFER_SIZE="256K"), "return"),
        ):
            runs = [Done([PROGRAMS / "launches", 1, launches, how], env, 60) for _ in range(3)]
            outside = statistics.median(r.wall - r.figure("loop_s") for r in runs)
            texts.append(f"{launches} {name}: {outside * 1e3:.0f} ms")
        lines = list(lines_of(WORK / "x" / "t")) if launches == 10_000 else []
        shutil.rmtree(WORK / "x", ignore_errors=True)
        for r in lines[-3:]:
            print(json.dumps(r)[:300])
    return result(True, "outside the loop: " + "; ".join(texts))


def start():
    """What a process that uses no GPU pays, and one that does."""
    variants = {"untraced": plain(), "traced": traced(WORK / "s" / "t"), "no-cuda": traced(WORK / "s" / "t", DFTRACER_CUDA="0")}
    times = {v: [] for v in variants}
    for _ in range(200):
        for name, env in variants.items():
            begin = time.perf_counter()
            subprocess.run(["/bin/true"], env=env)
            times[name].append(time.perf_counter() - begin)
    text = "; ".join(f"{v} median {statistics.median(t) * 1e3:.2f} ms" for v, t in times.items())
    maps = Done(["/bin/cat", "/proc/self/maps"], traced(WORK / "m" / "t"))
    clean = not re.search(r"libcupti|libcuda|libnvidia", maps.out)
    small = {v: [] for v in ("untraced", "bare", "traced")}
    for i in range(7):
        for name, env in (("untraced", plain()), ("bare", bare()), ("traced", traced(WORK / f"e{i}" / "t"))):
            small[name].append(Done([PROGRAMS / "launches", 1, 10], env).wall)
    text += "; ten launches: " + ", ".join(f"{v} {statistics.median(t) * 1e3:.0f} ms" for v, t in small.items())
    return result(clean, f"/bin/true {text}; no GPU library mapped: {clean}")


def ends():
    """Every way to end: all records of the last kernels are there."""
    texts, good = [], True
    count = 20_000
    for how, extra in (
        ("return", {}), ("exit", {}), ("_exit", {}), ("quick_exit", {}),
        ("term", {"DFTRACER_BIND_SIGNALS": "1"}), ("abort", {"DFTRACER_BIND_SIGNALS": "1"}), ("throw", {"DFTRACER_BIND_SIGNALS": "1"}),
        ("abort", {}),
    ):
        prefix = WORK / f"{how}{len(extra)}" / "t"
        done = Done([PROGRAMS / "launches", 1, count, how], traced(prefix, **extra), 40)
        found, _ = grep_count(prefix, '"cat":"CUDA_KERNEL"')
        kernels = found['"cat":"CUDA_KERNEL"']
        valid = subprocess.run(command(["validate", prefix.parent]), capture_output=True, text=True, env=tool_env())
        complete = kernels == count or (how == "abort" and not extra)
        good = good and complete and (valid.returncode == 0 or (how == "abort" and not extra))
        texts.append(f"{how}{'+BIND_SIGNALS' if extra else ''}: status {done.status}, {kernels} of {count}, validate {valid.returncode}, {done.wall:.2f} s")
        if not complete:
            print(how, extra, done.err[-500:], valid.stdout[-500:])
    return result(good, "; ".join(texts))


def starts():
    """Every way to start."""
    texts, good = [], True
    injected = plain(DFTRACER_ENABLE="1", CUDA_INJECTION64_PATH=str(KIT / "lib" / "libdftracer_core.so"))
    if cupti():
        injected["DFTRACER_CUPTI_PATH"] = cupti()
    ways = {
        "preload": ("launches", lambda p: traced(p)),
        "injection core": ("launches", lambda p: injected | {"DFTRACER_LOG_FILE": str(p)}),
        "injection preload": ("launches", lambda p: injected | {"DFTRACER_LOG_FILE": str(p), "CUDA_INJECTION64_PATH": str(KIT / "lib" / "libdftracer_preload.so")}),
        "preload+injection": ("launches", lambda p: traced(p, CUDA_INJECTION64_PATH=injected["CUDA_INJECTION64_PATH"])),
        "search": ("launches", lambda p: {k: v for k, v in traced(p).items() if k != "DFTRACER_CUPTI_PATH"}),
        "none": ("launches", lambda p: traced(p, DFTRACER_CUDA="0")),
        "api none": ("launches", lambda p: traced(p, DFTRACER_CUDA_API="none")),
        "kernels only": ("launches", lambda p: traced(p, DFTRACER_CUDA_CATEGORIES="CUDA_KERNEL")),
    }
    for way, (program, environment) in ways.items():
        prefix = WORK / way.replace(" ", "-") / "t"
        done = Done([PROGRAMS / program, 1, 5000], environment(prefix), 40)
        found, _ = grep_count(prefix, '"cat":"CUDA_KERNEL"', '"cat":"CUDA_DRIVER_API"')
        kernels, calls = found.values()
        wanted = 0 if way == "none" else 5000
        right = done.status == 0 and kernels == wanted and (calls > 0) == (way not in ("none", "api none", "kernels only"))
        good = good and right
        texts.append(f"{way}: {kernels} kernels, {calls} calls{'' if right else ' WRONG'}")
        if done.err:
            print(way, done.err[-400:])
        if not right:
            keep(prefix, f"starts-{way.replace(' ', '-')}")
    # Another client has the subscription already: bare_cupti in cuInit, then our init call.
    prefix = WORK / "conflict" / "t"
    env = bare(BARE_COUNT="1") | {k: v for k, v in api(prefix).items() if k.startswith("DFTRACER")}
    env["LD_LIBRARY_PATH"] = f"{os.path.dirname(cudart())}:{KIT / 'vendor'}"
    done = Done([PROGRAMS / "starts", "cuda-first"], env, 40)
    statuses = [{k: v for k, v in r["args"].items() if k != "hhash"} for r in lines_of(prefix) if r["name"] == "gpu_status"]
    lines = [l for l in done.err.splitlines() if l.startswith("dftracer: ")]
    right = done.status == 0 and len(lines) == 1 and [s.get("code") for s in statuses] == [39]
    good = good and right
    texts.append(f"beside another client: status {done.status}, stderr {done.err.strip()[-300:]!r}, {statuses}{'' if right else ' WRONG'}")
    # In a process that has used CUDA for long.
    late = one_workload("late", argument="late")
    good = good and late[1] == 0
    texts.append(f"late: {'all of the later work' if late[1] == 0 else 'WRONG ' + late[2][-500:]}, init {re.findall('init_ms=([0-9.]+)', late[2])} ms")
    return result(good, "; ".join(texts))


def runtime():
    """Launches as nvcc compiles them: whole names, and exactly one API record for each."""
    if not (PROGRAMS / "runtime_launch").exists():
        return result(True, "skipped: there was no nvcc")
    texts, good = [], True
    for api_mode in ("quiet", "all"):
        prefix = WORK / api_mode / "t"
        done = Done([PROGRAMS / "runtime_launch", 1000], traced(prefix, DFTRACER_CUDA_API=api_mode), 60)
        events = [r for r in lines_of(prefix) if r.get("type") == 14 and r.get("ph") == 1]
        kernels, calls, ids = {}, {}, {}
        for e in events:
            if e["cat"] == "CUDA_KERNEL":
                kernels[e["name"]] = kernels.get(e["name"], 0) + 1
                ids[e["args"]["correlation_id"]] = 0
        for e in events:
            if e["cat"] == "CUDA_RUNTIME_API":
                calls[e["name"]] = calls.get(e["name"], 0) + 1
                if e["args"]["correlation_id"] in ids:
                    ids[e["args"]["correlation_id"]] += 1
        expected = {"void train::add<float>(float*, float)": 1000, "void train::add<double>(double*, double)": 1000}
        right = done.status == 0 and kernels == expected and set(ids.values()) == {1}
        good = good and right
        drivers = sum(e["cat"] == "CUDA_DRIVER_API" for e in events)
        texts.append(f"{api_mode}: status {done.status}, kernels {kernels}, runtime calls {calls}, {drivers} driver calls")
    return result(good, "; ".join(texts))


def own_io():
    """No I/O of CUPTI's or our own threads among the I/O events."""
    found = {}
    for way, extra in (("with", {}), ("without", {"DFTRACER_CUDA": "0"})):
        prefix = WORK / way / "t"
        names = thread_names([str(PROGRAMS / "workload"), cudart()], traced(prefix, **extra))
        lines = list(lines_of(prefix))
        paths = {r["args"]["value"]: r["args"]["name"] for r in lines if r["name"] == "FH"}
        found[way] = {}
        for r in lines:
            if r.get("ph") == 1 and r["cat"] in ("POSIX", "STDIO"):
                key = (names.get(r["tid"], "?"), r["name"], re.sub(r"[0-9]{3,}", "N", paths.get(r["args"].get("fhash"), "")))
                found[way][key] = found[way].get(key, 0) + 1
        print(way, names)
    more = {k: n - found["without"].get(k, 0) for k, n in found["with"].items() if n > found["without"].get(k, 0)}
    for key, count in sorted(more.items()):
        print(count, key)
    others = {k: n for k, n in found["without"].items() if k[0] not in ("workload", "?")}
    return result(True, f"I/O events only with GPU tracing: {more}; of other threads without it: {others}")


def thread_names(command, env):
    """tid -> name of the threads of a run."""
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=WORK)
    names = {}
    while process.poll() is None:
        for path in glob.glob(f"/proc/{process.pid}/task/*/comm"):
            try:
                names[int(path.split("/")[4])] = pathlib.Path(path).read_text().strip()
            except OSError:
                pass
        time.sleep(0.002)
    return names


def idle():
    """The clock's truth after the device has idled for GPU_IDLE seconds."""
    prefix = WORK / "idle" / "t"
    seconds = int(os.environ.get("GPU_IDLE", 60))
    count = min(TRUTHS, 5000)
    done = Done([PROGRAMS / "truth", count, seconds], api(prefix, DFTRACER_TIME_METRIC="NS"), seconds + 60)
    check = subprocess.run([sys.executable, HERE / "check_cuda_truth.py", f"{prefix}*", str(count)], capture_output=True, text=True)
    text = check.stdout.strip().splitlines()[-1] if check.stdout.strip() else check.stderr[-300:] + done.err[-300:]
    return result(check.returncode == 0, f"{seconds} s idle: {text}")


def old():
    """Copies of earlier CUPTI in KIT/old under this driver: counting nodes of graphs, then the workload as the tracer
    does it."""
    texts, good = [], True
    for path in sorted((KIT / "old").glob("*/libcupti.so*")):
        named = path.parent.name
        for step in ("callbacks", "ids"):
            done = Done([PROGRAMS / "graph_callbacks", path, step], plain(), 30)
            texts.append(f"{named} {step}: status {done.status} {done.out.strip()} {done.err.strip()[-200:]}")
        run = one_workload(f"old-{named}", DFTRACER_CUPTI_PATH=str(path))
        notes = [line for line in run[2].splitlines() if line.startswith("dftracer: ")]
        good = good and "CUDA events" in run[2]
        texts.append(f"{named} workload: {run[1]} notes {notes} {run[2].strip().splitlines()[-1][:200] if run[2].strip() else ''}")
    return result(good, "; ".join(texts))


def peers():
    """Two GPUs: copies between them tell both ends, each device has its lanes."""
    prefix = WORK / "p" / "t"
    done = Done([PROGRAMS / "peers"], traced(prefix), 60)
    if done.status == 77:
        return result(True, f"skipped: {done.err.strip()}")
    check = subprocess.run([sys.executable, HERE / "check_peers.py", f"{prefix}*"], capture_output=True, text=True)
    print(done.err[-300:], check.stderr[-500:], check.stdout[-2000:])
    if check.returncode != 0:
        keep(prefix, "peers")
    last = check.stdout.strip().splitlines()[-1:] or ["nothing"]
    return result(done.status == 0 and check.returncode == 0, f"status {done.status}; {last[0]}")


def record():
    out = OUT / "recordings"
    arguments = [HERE / "record_on_gpu.sh", KIT, out]
    env = plain(RECORD_CUPTI=cupti()) if cupti() else plain()
    done = Done(["bash", *arguments, cupti() or "", cudart()], env, 60)
    files = {p.name: p.stat().st_size for p in out.glob("*")}
    print(done.err[-500:])
    return result(done.status == 0 and len(files) >= 2, f"status {done.status}, {files}")


def command(arguments):
    return [str(KIT / "bin" / "dftracer"), *map(str, arguments)]


def tool_env():
    return plain(LD_LIBRARY_PATH=f"{KIT / 'bin'}:{os.environ.get('LD_LIBRARY_PATH', '')}")


def run_part(parts):
    try:
        sys.exit(parts[PART]())
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


if __name__ == "__main__":
    run_part(globals())
