# SPDX-License-Identifier: MIT
"""Whole programs that use HIP, without an AMD GPU: stand-ins for HIP and for rocprofiler-sdk in two generations
(standin/). What a program does is always the same (programs/use_hip.h), so each trace must hold exactly that."""

import json
import os
import subprocess
import sys

import harness
import pytest

HERE = harness.BUILD / "test" / "hip"
CUDA = harness.BUILD / "test" / "cuda"
# Of one use_hip().
USED = {"HIP_RUNTIME_API": 12, "KERNEL_DISPATCH": 3, "MEMORY_COPY": 2, "MARKER_CORE_API": 1, "HSA_AMD_EXT_API": 4}
ALLOCATIONS = {"0": {}, "1": {"MEMORY_ALLOCATION": 2}}
NOTHING = {}

pytestmark = pytest.mark.skipif(not (HERE / "runtime").exists(), reason="a build without HIP tracing")


@pytest.fixture(params=["0", "1"], ids=["sdk-0", "sdk-1"])
def sdk(request):
    return request.param


def hip(sdk, words="", **extra):
    """The environment of a machine with ROCm and an AMD GPU."""
    library_path = os.environ.get("LD_LIBRARY_PATH", "")
    return {
        "LD_LIBRARY_PATH": f"{HERE / 'runtime'}:{HERE / f'sdk{sdk}'}:{CUDA / 'driver'}:{CUDA / 'runtime'}:{library_path}",
        "DFTRACER_HIP_TOPOLOGY": "/",  # any folder that is there
        "DFT_HIP_STANDIN": words or None,
        **extra,
    }


def unaware(bench, *arguments, flags=(), **how):
    """A program that knows nothing of the tracer, preloaded. Under a sanitizer, whose runtime does not bear the preload
    library, the same program makes an init call and no other."""
    if harness.sanitizer():
        return bench.run([harness.compile_program("hip/programs/plain.c", "-DWITH_INIT_CALL", *flags), *arguments], "function", **how)
    return bench.run([harness.compile_program("hip/programs/plain.c", *flags, link=False), *arguments], "preload", **how)


def starts(*arguments):
    return [harness.compile_program("hip/programs/starts.c"), *arguments]


def used(sdk, times=1, without=()):
    counts = {**USED, **ALLOCATIONS[sdk]}
    return {cat: number * times for cat, number in counts.items() if cat not in without}


def recorded(run):
    counts = {}
    for event in run.events():
        if event["type"] == 4:
            counts[event["cat"]] = counts.get(event["cat"], 0) + 1
    return counts


def statuses(run):
    return [r["args"] for t in run.traces() for r in t.metadata("gpu_status") if r["args"]["backend"] != "cupti"]


def is_whole(run, records, status=0):
    """The program as untraced, the trace valid and with exactly these records."""
    assert run.status == status, run.err
    assert recorded(run) == records, (recorded(run), run.err)
    done = harness.dftracer("validate", run.log)
    assert done.returncode == 0, done.stdout + done.stderr
    return run


# -------------------------------------------------------------------------------------------------------------- start


@pytest.mark.parametrize("mode", ["function", "preload", "hybrid"])
def test_a_program_that_begins_with_the_tracer(bench, sdk, mode):
    run = is_whole(bench.run(starts("init"), mode, env=hip(sdk)), used(sdk))
    assert not run.err and run.count("after") == 1 and run.fact("sdk") == 1
    assert [s["state"] for s in statuses(run)] == ["on"]


def test_a_preloaded_program_that_knows_nothing_of_the_tracer(bench, sdk):
    run = is_whole(unaware(bench, env=hip(sdk, DFTRACER_DISABLE_IO="1")), used(sdk))
    assert not run.err
    kernels = [e for e in run.events() if e["cat"] == "KERNEL_DISPATCH"]
    assert {k["name"] for k in kernels} == {"void train::scale<float>(float*, int)"}
    assert {k["args"]["stream_id"] for k in kernels if "stream_id" in k["args"]} == ({1} if sdk == "1" else set())


def test_hip_that_is_known_as_it_is_loaded(bench, sdk):
    assert not is_whole(unaware(bench, env=hip(sdk, DFT_HIP_REGISTERS="load")), used(sdk)).err


@pytest.mark.parametrize("mode", ["function", "preload"])
def test_hip_is_in_use_before_the_init_call(bench, sdk, mode):
    """What came before is not recorded in function mode, and nothing breaks; all of what comes after is."""
    run = bench.run(starts("hip-first"), mode, env=hip(sdk))
    assert run.status == 0 and not run.err, run.err
    counts = recorded(run)
    assert counts["KERNEL_DISPATCH"] in (3, 6) and counts["HIP_RUNTIME_API"] in (12, 24), counts
    if mode == "preload":
        assert counts == used(sdk, 2)


PYTHON = """
import ctypes
from dftracer.python import dftracer
dftracer.initialize_log()
hip = ctypes.CDLL("libamdhip64.so.7")
memory = ctypes.c_void_p()
assert hip.hipMalloc(ctypes.byref(memory), 4096) == 0 and hip.hipFree(memory) == 0
"""


@pytest.mark.skipif(not (harness.BUILD / "python" / "dftracer" / "_native.py").exists(), reason="a build without the Python package")
def test_a_library_that_the_loader_keeps_local_makes_itself_known(bench, sdk):
    """As Python's modules are: nobody finds the names that it exports."""
    env = hip(sdk, PYTHONPATH=harness.BUILD / "python", DFTRACER_DISABLE_IO="1")
    run = bench.run([sys.executable, "-c", PYTHON], "function", env=env)
    assert run.status == 0, run.err
    assert {e["name"] for e in run.events() if e["cat"] == "HIP_RUNTIME_API"} == {"hipMalloc", "hipFree"}, (run.err, statuses(run))


def test_a_second_recording_starts_again(bench, sdk):
    run = bench.run(starts("again"), "function", env=hip(sdk))
    assert run.status == 0 and not run.err
    assert [s["state"] for s in statuses(run)] == ["on", "on"]
    assert recorded(run) == used(sdk, 2), recorded(run)


# -------------------------------------------------------------------------------------------------------- declined


def report(path):
    return json.loads(path.read_text())


@pytest.mark.parametrize("off", [{"DFTRACER_ENABLE": "0"}, {"DFTRACER_HIP": "0"}])
def test_switched_off_the_library_is_declined(bench, sdk, tmp_path, off):
    env = hip(sdk, DFT_HIP_REPORT=tmp_path / "report", **off)
    run = unaware(bench, env=env)
    assert run.status == 0 and not run.err and not [e for e in run.events() if e["type"] == 4]
    assert not (tmp_path / "report").exists(), "rocprofiler-sdk was loaded for nothing"


def test_the_end_event_tells_that_hip_is_off(bench, sdk):
    run = is_whole(bench.run(starts("init"), "function", env=hip(sdk, DFTRACER_HIP="0")), NOTHING)
    assert not run.err and run.traces()[0].end["args"]["cfg"]["hip"]["on"] == 0


@pytest.mark.parametrize("off", [{"DFTRACER_ENABLE": "0"}, {"DFTRACER_HIP": "0"}])
def test_switched_off_the_library_that_is_there_for_another_is_declined(bench, sdk, tmp_path, off):
    other = harness.compile_program("hip/programs/other_tool.cc", "-shared", "-fPIC", link=False)
    env = hip(sdk, ROCP_TOOL_LIBRARIES=other, DFT_HIP_REPORT=tmp_path / "report", **off)
    run = unaware(bench, env=env)
    assert run.status == 0 and not run.err and not [e for e in run.events() if e["type"] == 4]
    told = report(tmp_path / "report")
    assert told["declined"] >= 1 and told["initialized"] == 1 and told["calls"] <= 1, told  # its version


@pytest.mark.parametrize("enable", ["0", "1"])
def test_without_rocprofiler_sdk_the_program_is_unharmed(bench, enable):
    """Who finds rocprofiler_configure alone ends the process where the SDK is not installed."""
    env = hip("none", DFTRACER_ENABLE=enable)
    run = is_whole(unaware(bench, env=env), NOTHING) if enable == "1" else unaware(bench, env=env)
    assert run.status == 0, run.err
    if enable == "1":
        assert len(run.notes) == 1 and "librocprofiler-sdk was not found" in run.notes[0], run.notes
        assert [s["state"] for s in statuses(run)] == ["off"]
    else:
        assert not run.err


def test_no_hip_no_sdk_no_thread(bench, sdk):
    run = bench.run(["cat", "/proc/self/maps", "/proc/self/status"], "preload", env=hip(sdk))
    assert run.status == 0 and b"librocprofiler" not in run.out and b"libamdhip" not in run.out
    assert b"Threads:\t1\n" in run.out or b"Threads:\t2\n" in run.out  # the drain's
    assert not statuses(run) and not run.err


def test_a_machine_without_the_driver_is_one_line(bench, sdk):
    run = is_whole(unaware(bench, env=hip(sdk, DFTRACER_HIP_TOPOLOGY="/nowhere/at/all")), NOTHING)
    assert len(run.notes) == 1 and "/nowhere/at/all" in run.notes[0], run.notes
    assert [s["state"] for s in statuses(run)] == ["off"]


def test_asked_once_though_two_libraries_could_be(bench, sdk, tmp_path):
    """The preload library and the core library may both be there; one context is made."""
    env = hip(sdk, DFT_HIP_REPORT=tmp_path / "report")
    is_whole(bench.run(starts("init"), "hybrid", env=env), used(sdk))
    assert report(tmp_path / "report")["contexts"] == 1


def test_another_tool_is_there_too(bench, sdk, tmp_path):
    other = harness.compile_program("hip/programs/other_tool.cc", "-shared", "-fPIC", link=False)
    env = hip(sdk, ROCP_TOOL_LIBRARIES=other, DFT_HIP_REPORT=tmp_path / "report")
    assert not is_whole(unaware(bench, env=env), used(sdk)).err
    assert report(tmp_path / "report")["initialized"] == 2


def test_a_configuration_that_is_locked_is_said(bench, sdk):
    run = is_whole(bench.run(starts("init"), "function", env=hip(sdk, "locked=1")), NOTHING)
    assert len(run.notes) <= 1


# --------------------------------------------------------------------------------------------------------------- ends


@pytest.mark.parametrize("how", ["return", "exit", "_exit", "quick_exit"])
def test_the_last_records_are_there_however_the_process_ends(bench, sdk, how):
    assert not is_whole(unaware(bench, how, env=hip(sdk, "no_flush=1")), used(sdk)).err


@pytest.mark.parametrize("how, status", [("term", -15), ("abort", -6)])
def test_and_by_fatal_signals_that_are_bound(bench, sdk, how, status):
    is_whole(unaware(bench, how, env=hip(sdk, DFTRACER_BIND_SIGNALS="1")), used(sdk), status)


def test_without_a_finalize_call(bench, sdk):
    assert not is_whole(bench.run(starts("no-fini"), "function", env=hip(sdk)), used(sdk)).err


def test_the_library_ends_last_or_never(bench, sdk):
    """Loaded first, its exit handler runs after all that the tracer does."""
    first = HERE / f"sdk{sdk}" / f"librocprofiler-sdk.so.{sdk}"
    flags = ("-Wl,--no-as-needed", str(first))
    assert not is_whole(unaware(bench, flags=flags, env=hip(sdk)), used(sdk)).err
    assert not is_whole(unaware(bench, env=hip(sdk, "no_finalize=1")), used(sdk)).err


def test_buffers_that_come_after_the_end_break_nothing(bench, sdk):
    run = unaware(bench, env=hip(sdk, "late=1"))
    assert run.status == 0, run.err
    assert harness.dftracer("validate", run.log).returncode == 0


@pytest.mark.parametrize("mode", ["function", "preload"])
def test_and_by_exec_a_failing_one_before_it_loses_nothing(bench, sdk, mode):
    run = bench.run(starts("exec"), mode, env=hip(sdk))
    assert run.status == 0, run.err
    assert recorded(run) == used(sdk), recorded(run)


@pytest.mark.skipif(bool(harness.sanitizer()), reason="ASan's allocator lock may be held by another thread at a fork; TSan does not support threads in children")
@pytest.mark.parametrize("words", ["", "late=1", "child_dies=1"])
@pytest.mark.parametrize("mode", ["function", "preload"])
def test_forked_children_never_call_the_library(bench, sdk, mode, words):
    run = bench.run(starts("fork"), mode, env=hip(sdk, words))
    assert run.status == 0 and b"stand-in" not in run.err, run.err
    assert run.count("child") == 3 and run.count("after") == 1
    # But for ranges, as with NVTX: they are the application's own calls, and need nothing of the library.
    others = [e for e in run.events() if e["type"] == 4 and e["pid"] != run.pid]
    assert {e["cat"] for e in others} == {"MARKER_CORE_API"} and len(others) == 3
    if not words:
        assert recorded(run) == {**used(sdk, 2), "MARKER_CORE_API": 5}, recorded(run)


# --------------------------------------------------------------------------------------------------- what goes wrong


def test_a_kind_that_is_refused_leaves_the_others(bench, sdk):
    run = unaware(bench, env=hip(sdk, "fail=MEMORY_COPY"))
    assert run.status == 0 and not run.err
    assert recorded(run) == used(sdk, without=("MEMORY_COPY",))
    assert [(s["state"], s.get("category")) for s in statuses(run)] == [("partial", "MEMORY_COPY"), ("partial", None)]


def test_drops_are_a_loss_record_and_stand_in_end(bench, sdk):
    run = unaware(bench, env=hip(sdk, "drops=5"))
    lost = run.lost()["gpu_dropped"]
    assert lost and lost % 5 == 0
    assert run.traces()[0].end["args"]["lost"]["gpu_dropped"] == lost


# ------------------------------------------------------------------------------------------------------------ switches


@pytest.mark.parametrize(
    "switches, records",
    [
        ({"DFTRACER_HIP_CATEGORIES": "KERNEL_DISPATCH,MEMORY_COPY"}, {"KERNEL_DISPATCH": 3, "MEMORY_COPY": 2}),
        ({"DFTRACER_HIP_CATEGORIES": "MARKER_CORE_API"}, {"MARKER_CORE_API": 1}),
        ({"DFTRACER_HIP_API": "none", "DFTRACER_HIP_CATEGORIES": "default"}, {"KERNEL_DISPATCH": 3, "MEMORY_COPY": 2, "MARKER_CORE_API": 1}),
    ],
)
def test_categories_and_api(bench, sdk, switches, records):
    if "DFTRACER_HIP_API" in switches:
        records = {**records, **ALLOCATIONS[sdk]}
    run = is_whole(unaware(bench, env=hip(sdk, **switches)), records)
    assert run.traces()[0].end["args"]["cfg"]["hip"]["api"] == switches.get("DFTRACER_HIP_API", "quiet")


def test_all_calls(bench, sdk):
    run = unaware(bench, env=hip(sdk, DFTRACER_HIP_API="all"))
    counts = recorded(run)
    assert counts["HIP_RUNTIME_API"] == 14 and counts["HSA_CORE_API"] == 3, counts
    assert not [r for r in run.traces()[0].losses if r["args"]["cause"] == "api_quiet"]


def test_an_unknown_category_is_named(bench, sdk):
    env = hip(sdk, DFTRACER_HIP_CATEGORIES="KERNEL_DISPATCH,KERNELS")
    run = is_whole(unaware(bench, env=env), {"KERNEL_DISPATCH": 3})
    assert len(run.notes) == 1 and "KERNELS" in run.notes[0]


@pytest.mark.parametrize("names, wanted", [("short", "scale"), ("mangled", "_ZN5train5scaleIfEEvPT_i")])
def test_kernel_names(bench, sdk, names, wanted):
    run = unaware(bench, env=hip(sdk, DFTRACER_HIP_KERNEL_NAMES=names))
    assert {e["name"] for e in run.events() if e["cat"] == "KERNEL_DISPATCH"} == {wanted}


def test_switches_of_the_configuration_file(bench, sdk, tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("features:\n  hip:\n    categories: [KERNEL_DISPATCH]\n    kernel_names: short\n")
    run = is_whole(unaware(bench, env=hip(sdk, DFTRACER_CONFIGURATION=file)), {"KERNEL_DISPATCH": 3})
    assert run.traces()[0].end["args"]["cfg"]["hip"]["kernel_names"] == "short"


def test_the_end_event_tells_what_was_used(bench, sdk):
    run = is_whole(unaware(bench, env=hip(sdk)), used(sdk))
    end = run.traces()[0].end["args"]
    assert end["build"]["hip"] == 1 and end["used"]["HIP"] == 1


# ----------------------------------------------------------------------------------------------- agents, rows, reading


def test_agents_are_described_and_rows_are_named(bench, sdk):
    run = is_whole(unaware(bench, env=hip(sdk)), used(sdk))
    (trace,) = run.traces()
    devices = [r["args"] for r in trace.metadata("gpu_device")]
    assert len(devices) == 3, devices
    kernel = next(e for e in run.events() if e["cat"] == "KERNEL_DISPATCH")
    assert kernel["args"]["agent_id"] == 1 and kernel["tid"] > 1 << 30
    names = [r["args"]["name"] for r in trace.metadata("thread_name")]
    assert any("GPU 0" in name for name in names), names


def test_work_stands_in_its_call(bench, sdk):
    run = is_whole(unaware(bench, env=hip(sdk)), used(sdk))
    calls = {e["args"]["correlation_id"]: e for e in run.events() if e["cat"] == "HIP_RUNTIME_API"}
    for event in run.events():
        if event["cat"] in ("KERNEL_DISPATCH", "MEMORY_COPY"):
            assert event["args"]["correlation_id"] in calls, event


def test_summary_and_info_treat_hip_like_cuda(bench, sdk):
    run = is_whole(unaware(bench, env=hip(sdk)), used(sdk))
    gpu = json.loads(harness.dftracer("summary", "--json", run.log).stdout)["gpu"]
    busy = {d["device_id"]: d["kernels"] for d in gpu["devices"]}
    assert busy == {0: 3, 1: 0} and {d["name"] for d in gpu["devices"]} == {"AMD Instinct of the stand-in"}, gpu["devices"]
    assert {c["direction"]: c["bytes"] for c in gpu["copies"]} == {"HtoD": 1024, "DtoH": 1024}, gpu["copies"]
    (latency,) = gpu["launch_latency"]
    assert (latency["device_id"], latency["count"]) == (0, 3), latency
    assert {s["name"] for s in gpu["synchronisation"]} == {"hipStreamSynchronize"}, gpu
    rows = harness.summary_rows(run.log)
    row = next(r for r in rows if r["cat"] == "KERNEL_DISPATCH")
    assert row["type"] in (4, "HIP") and row["count"] == 3
    info = harness.dftracer("info", run.log).stdout
    assert "AMD Instinct of the stand-in" in info and "train::scale" in info, info


# ---------------------------------------------------------------------------------------------------------- the program


@pytest.mark.parametrize("extra", [{}, {"DFTRACER_TIME_METRIC": "NS"}, {"DFTRACER_HIP_API": "all"}, {"DFTRACER_HIP_API": "none"}])
@pytest.mark.parametrize("words", ["", "shuffle=1"])
def test_the_program_for_machines_passes_its_check_over_the_stand_ins(bench, sdk, extra, words):
    forks = ["no-forks"] if harness.sanitizer() else []  # see test_forked_children_never_call_the_library
    run = bench.run([HERE / "dft_hip_workload", *forks], "function", env=hip(sdk, words, **extra))
    assert run.status == 0, run.err
    command = [sys.executable, harness.SOURCE / "test/hip/check_hip_trace.py", f"{run.log}/t*", "--exact"]
    command += [f"--{word}" for word in forks]
    command += ["--no-calls"] if extra.get("DFTRACER_HIP_API") == "none" else []
    check = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    assert check.returncode == 0, (check.stdout + check.stderr, run.err, statuses(run))


def test_without_a_device_the_program_is_skipped(bench):
    assert bench.run([HERE / "dft_hip_workload"], "function", env={"LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}).status == 77


# --------------------------------------------------------------------------------------------------------- both vendors


@pytest.mark.skipif(not (CUDA / "standin").exists(), reason="a build without CUDA tracing")
@pytest.mark.parametrize("mode", ["function", "preload"])
def test_both_vendors_in_one_process_and_one_trace(bench, sdk, mode):
    recording = harness.SOURCE / "test" / "cuda" / "recordings" / "synthetic.cuptirec"
    env = hip(sdk, DFTRACER_CUPTI_PATH=CUDA / "standin" / "libcupti.so.13", DFT_CUPTI_STANDIN=f"recording={recording} shift=1")
    run = is_whole(bench.run(starts("both"), mode, env=env), used(sdk))
    assert not run.err
    kernels = [e for e in run.events() if e["type"] == 14 and e["cat"] == "CUDA_KERNEL"]
    assert len(kernels) == 4
    lanes = {e["tid"] for e in run.events() if e["tid"] > 1 << 30}
    cuda_lanes = {e["tid"] for e in run.events() if e["type"] == 14 and e["tid"] > 1 << 30}
    hip_lanes = {e["tid"] for e in run.events() if e["type"] == 4 and e["tid"] > 1 << 30}
    assert cuda_lanes and hip_lanes and not cuda_lanes & hip_lanes and lanes == cuda_lanes | hip_lanes
    end = run.traces()[0].end["args"]
    assert end["used"]["CUDA"] == 1 and end["used"]["HIP"] == 1
    for command in ("summary", "info"):
        told = harness.dftracer(command, run.log)
        assert told.returncode == 0, told.stderr
