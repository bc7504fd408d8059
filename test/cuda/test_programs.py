# SPDX-License-Identifier: MIT
"""Whole programs that use CUDA, without a GPU: stand-ins for driver, runtime and CUPTI (standin/). What CUPTI delivers
is always the same recording, so each trace must hold exactly its records."""

import os
import re
import subprocess

import harness
import pytest

HERE = harness.BUILD / "test" / "cuda"
CUPTI = HERE / "standin" / "libcupti.so.13"
RECORDING = harness.SOURCE / "test" / "cuda" / "recordings" / "synthetic.cuptirec"
RECORDED = {
    "CUDA_RUNTIME_API": 7, "CUDA_DRIVER_API": 2, "CUDA_KERNEL": 4, "CUDA_MEMCPY": 2, "CUDA_MEMCPY_P2P": 1, "CUDA_MEMSET": 1,
    "CUDA_MEMORY": 3, "CUDA_SYNC": 2, "CUDA_GRAPH": 1, "CUDA_UNIFIED_MEMORY": 2, "CUDA_OVERHEAD": 1,
}  # fmt: skip
NOTHING = {}

pytestmark = pytest.mark.skipif(not CUPTI.exists(), reason="a build without CUDA tracing")


def cuda(words="", **extra):
    """The environment of a machine with CUDA."""
    library_path = os.environ.get("LD_LIBRARY_PATH", "")
    return {
        "LD_LIBRARY_PATH": f"{HERE / 'driver'}:{HERE / 'runtime'}:{library_path}",
        "DFTRACER_CUPTI_PATH": CUPTI,
        "DFT_CUPTI_STANDIN": f"recording={RECORDING} shift=1 {words}",
        **extra,
    }


def launches(*arguments):
    return [HERE / "dft_cuda_launches", 1, 10, *arguments]


def starts(*arguments):
    return [harness.compile_program("cuda/programs/starts.c"), *arguments]


def library():
    flags = ("-shared", "-fPIC", "-Wl,--no-as-needed", str(HERE / "driver" / "libcuda.so.1"))
    return harness.compile_program("cuda/programs/library.c", *flags, link=False)


def linked():
    return harness.compile_program("cuda/programs/linked.c", "-Wl,--no-as-needed", str(HERE / "driver" / "libcuda.so.1"), link=False)


def unaware(bench, argv, env, **how):
    """A program that knows nothing of the tracer, preloaded. Under a sanitizer, whose runtime does not bear the preload
    library, the driver brings the tracer in."""
    if harness.sanitizer():
        return bench.run(argv, "function", env={**env, "CUDA_INJECTION64_PATH": harness.core_library()}, **how)
    return bench.run(argv, "preload", env=env, **how)


def recorded(run):
    counts = {}
    for event in run.events():
        if event["type"] == 14:
            counts[event["cat"]] = counts.get(event["cat"], 0) + 1
    return counts


def statuses(run):
    return [record["args"] for trace in run.traces() for record in trace.metadata("gpu_status")]


def is_whole(run, records=RECORDED, status=0):
    """The program as untraced, the trace valid and with exactly these records."""
    assert run.status == status, run.err
    assert recorded(run) == records, (recorded(run), run.err)
    done = harness.dftracer("validate", run.log)
    assert done.returncode == 0, done.stdout + done.stderr
    return run


# -------------------------------------------------------------------------------------------------------------- start


@pytest.mark.parametrize("way", ["init", "cuda-first"])
@pytest.mark.parametrize("mode", ["function", "preload", "hybrid"])
def test_starts_whether_the_init_call_comes_before_or_after_cuda(bench, mode, way):
    run = is_whole(bench.run(starts(way), mode, env=cuda()))
    assert not run.err and run.count("after") == 1
    assert [s["state"] for s in statuses(run)] == ["on"]


def test_a_preloaded_program_that_knows_nothing_of_the_tracer(bench):
    assert not is_whole(unaware(bench, launches(), env=cuda(DFTRACER_DISABLE_IO="1"))).err


def test_a_preloaded_program_that_is_linked_with_the_driver(bench):
    for words in ("", "init_looks_up=1"):
        run = unaware(bench, [linked()], env=cuda(DFT_CUDA_STANDIN=words, DFTRACER_DISABLE_IO="1"))
        assert is_whole(run).out == b"used the GPU\n"


@pytest.mark.parametrize("mode", ["function", "preload"])
def test_who_only_asks_for_the_driver_does_not_get_it(bench, mode):
    run = is_whole(bench.run(starts("probe"), mode, env=cuda()), NOTHING)
    assert run.fact("driver") == 0 and not run.err


def test_a_driver_that_comes_as_a_dependency(bench):
    is_whole(bench.run(starts("dependency", library()), "function", env=cuda()))


def test_a_driver_that_no_hook_could_see_is_said(bench):
    """A library brings the driver along and calls it at once."""
    program = harness.compile_program("cuda/programs/unseen.c", link=False)
    run = is_whole(bench.run([program, library()], "preload", env=cuda()), NOTHING)
    assert len(run.notes) == 1 and "CUDA_INJECTION64_PATH" in run.notes[0]
    assert "unnoticed" in str(run.traces()[0].losses)
    env = cuda(CUDA_INJECTION64_PATH=harness.preload_library())
    assert not is_whole(bench.run([program, library()], "preload", env=env)).err


def test_after_a_no_bind_init_the_next_region_after_a_flush_interval_starts(bench):
    run = bench.run(starts("no-bind"), "function", env=cuda(DFTRACER_FLUSH_INTERVAL_MS="10"))
    assert is_whole(run).fact("cupti") == 1
    assert "unnoticed" in str(run.traces()[0].losses)


@pytest.mark.parametrize("file", [harness.core_library, harness.preload_library])
def test_injection_by_the_driver_alone(bench, file):
    env = cuda(DFTRACER_ENABLE="1", CUDA_INJECTION64_PATH=file())
    folder = bench.place("injected")
    run = bench.run(launches(), None, folder=folder, env=env)
    assert not run.traces(), "DFTRACER_ variables are not for untraced runs"
    env = cuda(CUDA_INJECTION64_PATH=file(), LD_PRELOAD=None, DFTRACER_INIT=None)
    run = is_whole(bench.run(launches(), "function", env=env))
    assert not run.err


def test_injection_into_a_preloaded_program_starts_once(bench):
    run = is_whole(bench.run(launches(), "preload", env=cuda(CUDA_INJECTION64_PATH=harness.core_library())))
    assert len(statuses(run)) == 1


def test_injection_where_tracing_is_off_does_nothing(bench):
    env = cuda(CUDA_INJECTION64_PATH=harness.core_library(), DFTRACER_ENABLE="0", DFTRACER_INIT=None)
    run = bench.run(launches(), "function", env=env)
    assert run.status == 0 and not run.err and not run.traces()


def test_a_second_recording_starts_again(bench):
    run = bench.run(starts("again"), "function", env=cuda())
    assert run.status == 0 and [s["state"] for s in statuses(run)] == ["on", "on"]


# -------------------------------------------------------------------------------------------------------------- cost


def test_no_driver_no_cupti_no_thread_no_memory(bench):
    run = bench.run(["cat", "/proc/self/maps", "/proc/self/status"], "preload", env=cuda())
    assert run.status == 0
    assert not re.search(rb"libcu(pti|da)", run.out), run.out
    assert b"Threads:\t1\n" in run.out or b"Threads:\t2\n" in run.out  # the drain's
    assert not statuses(run) and not run.err


@pytest.mark.parametrize("mode", ["function", "preload"])
def test_switched_off_nothing_is_loaded(bench, mode):
    run = is_whole(bench.run(starts("init"), mode, env=cuda(DFTRACER_CUDA="0")), NOTHING)
    assert run.fact("cupti") == 0 and not run.err
    assert run.traces()[0].end["args"]["cfg"]["cuda"]["on"] == 0


def test_no_io_of_the_gpu_part_is_an_event(bench):
    run = is_whole(unaware(bench, launches(), env=cuda(DFTRACER_FLUSH_INTERVAL_MS="5")))
    names = [record["args"]["name"] for trace in run.traces() for record in trace.metadata("FH")]
    assert not [name for name in names if "cupti" in name], names
    assert {e["tid"] for e in run.events() if e["cat"] in ("POSIX", "STDIO")} <= {run.pid}


# --------------------------------------------------------------------------------------------------------------- ends


# _exit is seen by the preload library, or after an init call.
@pytest.mark.parametrize("how", ["return", "exit", "quick_exit"] + ([] if harness.sanitizer() else ["_exit"]))
def test_the_last_records_are_there_however_the_process_ends(bench, how):
    assert not is_whole(unaware(bench, launches(how), env=cuda())).err


def test_nor_does_underscore_exit_lose_any_after_an_init_call(bench):
    assert not is_whole(bench.run(starts("_exit"), "function", env=cuda())).err


@pytest.mark.parametrize("how, status", [("term", -15), ("abort", -6), ("throw", -6)])
def test_and_by_fatal_signals_that_are_bound(bench, how, status):
    is_whole(unaware(bench, launches(how), env=cuda(DFTRACER_BIND_SIGNALS="1")), status=status)


@pytest.mark.parametrize("mode", ["function", "preload"])
def test_and_by_exec_a_failing_one_before_it_loses_nothing(bench, mode):
    run = bench.run(starts("exec"), mode, env=cuda())
    assert run.status == 0, run.err
    counts = recorded(run)
    assert counts["CUDA_KERNEL"] == RECORDED["CUDA_KERNEL"], counts


def test_without_a_finalize_call(bench):
    is_whole(bench.run(starts("no-fini"), "function", env=cuda()))


@pytest.mark.skipif(bool(harness.sanitizer()), reason="ASan's allocator lock may be held by another thread at a fork; TSan does not support threads in children")
@pytest.mark.parametrize("mode", ["function", "preload"])
def test_forked_children_never_call_cupti(bench, mode):
    run = is_whole(bench.run(starts("fork"), mode, env=cuda()))
    assert not run.err, "neither a call of CUPTI, nor a word on CUDA that came unnoticed"
    assert not [l for t in run.traces() for l in t.losses if l["args"]["cause"] == "gpu_unavailable"]
    assert run.count("child") == 4 and run.count("after") == 1
    assert {e["pid"] for e in run.events() if e["type"] == 14} == {run.pid}


def test_a_library_that_hangs_ends_in_time_and_is_said(bench):
    run = unaware(bench, launches(), env=cuda("hang=1", DFTRACER_GPU_EXIT_TIMEOUT_MS="200"), timeout=20)
    assert run.status == 0
    assert len(run.notes) == 1 and "200 ms (DFTRACER_GPU_EXIT_TIMEOUT_MS)" in run.notes[0]
    assert [r["args"]["cause"] for r in run.traces()[0].losses if "GPU_EXIT" in r["args"].get("detail", "")] == ["gpu_unavailable"]


# --------------------------------------------------------------------------------------------------- what goes wrong


def test_a_subscription_that_another_profiler_holds(bench):
    run = is_whole(unaware(bench, launches(), env=cuda("conflict=nsys")), NOTHING)
    assert len(run.notes) == 1 and "CUPTI is held by nsys" in run.notes[0], run.notes
    (status,) = statuses(run)
    assert (status["state"], status["holder"], status["code"]) == ("off", "nsys", 39)


@pytest.mark.parametrize("first", ["", "conflict=torch"])
def test_cupti_is_shared_where_it_can_be(bench, first):
    run = is_whole(bench.run(starts("turns"), "function", env=cuda(f"api=130300 share=1 {first}")))
    assert run.fact("free") == 1 and not run.err, "the other one sees the GPU too: nothing is to be said"
    assert [s["state"] for s in statuses(run)] == ["on"]
    assert run.traces()[0].end["args"]["gpu"]["shared"] == 1


@pytest.mark.parametrize("yields", [0, 1])
def test_another_client_that_announces_itself(bench, yields):
    run = is_whole(bench.run(starts("turns"), "function", env=cuda(DFTRACER_CUDA_YIELD=yields)))
    assert (run.fact("free"), run.fact("nested")) == (yields, yields) and len(run.notes) == 1 - yields
    states = [s["state"] for s in statuses(run)]
    gaps = [r["args"] for t in run.traces() for r in t.losses if r["args"]["cause"] == "gpu_unavailable"]
    if not yields:
        assert "mine" in run.notes[0] and states == ["on", "on"] and not gaps
        return
    (gap,), (meanwhile,) = gaps, run.events("meanwhile")
    assert states == ["on", "off", "on"] and gap["detail"] == "left to mine"
    assert gap["first_ts"] <= meanwhile["ts"] and meanwhile["ts"] + meanwhile["dur"] <= gap["last_ts"]


@pytest.mark.parametrize("what", ["missing", "text", "other"])
def test_no_usable_cupti_is_one_line_and_the_program_goes_on(bench, tmp_path, what):
    path = tmp_path / "libcupti.so.13"
    if what == "text":
        path.write_text("no library\n")
    if what == "other":
        path = harness.preload_library()
    run = is_whole(unaware(bench, launches(), env=cuda(DFTRACER_CUPTI_PATH=path)), NOTHING)
    assert len(run.notes) == 1 and str(path) in run.notes[0], run.notes
    assert [s["state"] for s in statuses(run)] == ["off"]


def test_a_kind_that_is_refused_leaves_the_others(bench):
    run = unaware(bench, launches(), env=cuda("fail=38:27"))
    assert run.status == 0 and not run.err
    assert [(s["state"], s.get("category"), s.get("code")) for s in statuses(run)] == [("partial", "CUDA_SYNC", 27), ("partial", None, None)]


def test_drops_are_a_loss_record_and_stand_in_end(bench):
    run = unaware(bench, launches(), env=cuda("drops=5"))
    assert run.lost()["gpu_dropped"] == 5
    assert run.traces()[0].end["args"]["lost"]["gpu_dropped"] == 5


# ------------------------------------------------------------------------------------------------------------ switches


def only(*categories):
    return {c: RECORDED[c] for c in categories}


@pytest.mark.parametrize(
    "switches, records",
    [
        ({"DFTRACER_CUDA_CATEGORIES": "CUDA_KERNEL,CUDA_MEMCPY"}, only("CUDA_KERNEL", "CUDA_MEMCPY")),
        ({"DFTRACER_CUDA_CATEGORIES": "cuda_kernel, Cuda_Memcpy ,"}, only("CUDA_KERNEL", "CUDA_MEMCPY")),
        ({"DFTRACER_CUDA_CATEGORIES": "default"}, RECORDED),
        ({"DFTRACER_CUDA_CATEGORIES": " DEFAULT"}, RECORDED),
        ({"DFTRACER_CUDA_CATEGORIES": "CUDA_UNIFIED_MEMORY"}, only("CUDA_UNIFIED_MEMORY")),
        ({"DFTRACER_CUDA_CATEGORIES": "CUDA_MARKER"}, {}),
        ({"DFTRACER_CUDA_API": "none"}, {c: n for c, n in RECORDED.items() if not c.endswith("_API")}),
    ],
)
def test_categories_and_api(bench, switches, records):
    run = is_whole(unaware(bench, launches(), env=cuda(**switches)), records)
    chosen = run.traces()[0].end["args"]["cfg"]["cuda"]
    if "DFTRACER_CUDA_CATEGORIES" in switches:
        assert {c for c, on in chosen["categories"].items() if on} >= set(records)
    assert chosen["api"] == switches.get("DFTRACER_CUDA_API", "quiet")


def test_all_api_calls(bench):
    run = unaware(bench, launches(), env=cuda(DFTRACER_CUDA_API="all"))
    assert recorded(run)["CUDA_RUNTIME_API"] > RECORDED["CUDA_RUNTIME_API"]
    assert not [r for r in run.traces()[0].losses if r["args"]["cause"] == "api_quiet"]


def test_graph_launches_say_how_many_nodes_they_hide(bench):
    run = is_whole(unaware(bench, launches(), env=cuda("graph=5:3:4")))
    told = [(r["args"]["graph_id"], r["args"]["nodes"]) for t in run.traces() for r in t.metadata("gpu_graph")]
    assert told == [(5, 7)]
    for command in ("summary", "info"):
        told = harness.dftracer(command, run.log).stdout
        assert "1 graph launch" in told and "7 hidden nodes" in told and "DFTRACER_CUDA_GRAPH=node" in told, told


def test_an_older_cupti_is_not_asked_for_nodes_of_graphs(bench):
    run = is_whole(unaware(bench, launches(), env=cuda("graph=5:3:4 api=19")))
    assert len(run.notes) == 1 and "older than the driver" in run.notes[0] and run.notes[0].endswith(f"({CUPTI})"), run.notes
    assert [(s["state"], s.get("category")) for s in statuses(run)] == [("partial", "CUDA_GRAPH"), ("on", None)]
    assert not [r for t in run.traces() for r in t.metadata("gpu_graph")]


def test_an_unknown_category_is_named(bench):
    run = is_whole(unaware(bench, launches(), env=cuda(DFTRACER_CUDA_CATEGORIES="CUDA_KERNEL,CUDA_KERNELS")), only("CUDA_KERNEL"))
    assert len(run.notes) == 1 and "CUDA_KERNELS; accepted: default, CUDA_RUNTIME_API, " in run.notes[0]
    run = is_whole(unaware(bench, launches(), env=cuda(DFTRACER_CUDA_CATEGORIES="kernels,copies")))
    assert len(run.notes) == 1 and "KERNELS, COPIES; accepted: " in run.notes[0] and "the default is used" in run.notes[0]


def test_a_limit_of_less_than_two_buffers_is_said(bench):
    run = is_whole(unaware(bench, launches(), env=cuda(DFTRACER_CUDA_BUFFER_SIZE="4MiB", DFTRACER_CUDA_BUFFER_LIMIT="4MiB")))
    assert len(run.notes) == 1 and "DFTRACER_CUDA_BUFFER_LIMIT" in run.notes[0]
    assert run.traces()[0].end["args"]["cfg"]["cuda"]["buffer_limit"] == 8 << 20


def test_switches_of_the_configuration_file(bench, tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("features:\n  cuda:\n    categories: [CUDA_SYNC]\n    graph: node\n    kernel_names: short\n    buffer_size: 128 KiB\n    nvtx: off\n")
    env = cuda(DFTRACER_CONFIGURATION=file, DFTRACER_GPU_EXIT_TIMEOUT_MS="7s")
    run = is_whole(unaware(bench, launches(), env=env), only("CUDA_SYNC"))
    end = run.traces()[0].end["args"]
    chosen = end["cfg"]["cuda"]
    assert (chosen["graph"], chosen["kernel_names"], chosen["buffer_size"]) == ("node", "short", 128 << 10)
    assert (chosen["nvtx"], chosen["exit_timeout_ms"]) == (0, 7000)
    assert end["gpu"]["buffer_bytes"] == 128 << 10


def test_the_end_event_tells_what_was_used(bench):
    run = is_whole(unaware(bench, launches(), env=cuda()))
    end = run.traces()[0].end["args"]
    assert end["build"]["cuda"] == 1 and end["used"]["CUDA"] == 1
    gpu = end["gpu"]
    assert (gpu["backend"], gpu["library"], gpu["library_version"]) == ("cupti", str(CUPTI), 130001)
    assert gpu["driver_cuda"] == 13000 and gpu["records"] == RECORDED


# ---------------------------------------------------------------------------------------------------------------- NVTX


def nvtx(bench, word, env):
    """As unaware(), but that an init call stands for the driver: it is there without CUDA too."""
    include = harness.cache_entry("DFT_NVTX_INCLUDE")
    if not include or include.endswith("NOTFOUND"):
        pytest.skip("the toolkit has no NVTX headers")
    if harness.sanitizer():
        program = harness.compile_program("cuda/programs/nvtx.c", f"-isystem{include}", "-DWITH_INIT_CALL")
        return bench.run([program, word], "function", env=env)
    return bench.run([harness.compile_program("cuda/programs/nvtx.c", f"-isystem{include}", link=False), word], "preload", env=env)


@pytest.mark.parametrize("gpu", [True, False])
def test_nvtx_ranges_with_and_without_cuda(bench, gpu):
    env = cuda() if gpu else {}
    run = nvtx(bench, "cuda" if gpu else "none", env)
    assert run.status == 0 and not run.err
    ranges = [e for e in run.events() if e["cat"] == "CUDA_MARKER"]
    assert sorted(e["name"] for e in ranges) == ["across", "inner", "mark", "outer"]
    inner, outer = (next(e for e in ranges if e["name"] == n) for n in ("inner", "outer"))
    assert outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]
    assert {e["tid"] for e in ranges} == {run.pid}


@pytest.mark.parametrize("off", [{"DFTRACER_NVTX": "0"}, {"DFTRACER_CUDA_CATEGORIES": "CUDA_KERNEL"}, {"DFTRACER_CUDA": "0"}])
def test_nvtx_switched_off(bench, off):
    run = nvtx(bench, "none", off)
    assert run.status == 0 and not [e for e in run.events() if e["cat"] == "CUDA_MARKER"]


def test_the_users_choice_of_nvtx_library_stays(bench):
    for value in ("/some/other.so", ""):
        run = bench.run(["sh", "-c", 'printf "%s" "$NVTX_INJECTION64_PATH"'], "preload", env={"NVTX_INJECTION64_PATH": value})
        assert run.out.decode() == value


def test_a_shell_with_an_environment_of_its_own(bench):
    """bash has its own setenv and getenv, which work only once it has begun."""
    script = 'read -r line < file; echo "$line" "$NVTX_INJECTION64_PATH"; FOO=1 sh -c "echo child \\$FOO"'
    folder = bench.place("bash")
    (folder / "cwd" / "file").write_text("text\n")
    run = bench.run(["bash", "--norc", "-c", script], "preload", folder=folder)
    assert run.status == 0 and re.match(rb"text /.*libdftracer_core[^ ]*\nchild 1\n$", run.out), run.out
    assert [e for e in run.events("open") if e["pid"] == run.pid]


@pytest.mark.skipif(bool(harness.sanitizer()), reason="the preload library of a sanitizer build cannot be preloaded")
def test_run_offers_nvtx_from_outside(bench):
    folder = bench.place("run")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("DFTRACER_", "NVTX_"))}
    line = [harness.command(), "run", "-q", "-o", folder / "log" / "t", "--", "sh", "-c", 'printf "%s" "$NVTX_INJECTION64_PATH"']
    done = subprocess.run([str(part) for part in line], capture_output=True, text=True, env=clean)
    assert "/libdftracer_preload.so" in done.stdout, done.stdout


@pytest.mark.skipif(bool(harness.sanitizer()), reason="the preload library of a sanitizer build cannot be preloaded")
@pytest.mark.parametrize("words, lost", [("", False), ("drops=5", True)])
def test_run_says_what_is_missing_but_not_what_was_left_out_by_choice(bench, words, lost):
    folder = bench.place("run")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("DFTRACER_", "NVTX_"))}
    line = [harness.command(), "run", "-o", folder / "log" / "t", "--", *launches()]
    env = clean | {key: str(value) for key, value in cuda(words).items()}
    done = subprocess.run([str(part) for part in line], capture_output=True, text=True, env=env)
    assert "1 trace: " in done.stderr and ("not everything was recorded" in done.stderr) == lost, done.stderr
