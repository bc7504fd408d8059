// SPDX-License-Identifier: MIT
// What the reports say about GPUs: hand-written lines, exact figures.
#include <gtest/gtest.h>

#include "tools/command_for_test.h"
#include "tools/interval_union.h"
#include "tools/launch_join.h"

namespace dft::tools::test {
namespace {

using read::test::TempDir;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// One event of a GPU layer; `args` without hhash.
std::string gpu_line(std::uint64_t id, const std::string& cat, const std::string& name, std::uint64_t ts,
                     std::uint64_t dur, std::int64_t tid, const std::string& args, int type = 14) {
  return R"({"id":)" + std::to_string(id) + R"(,"name":")" + name + R"(","cat":")" + cat + R"(","type":)" +
         std::to_string(type) + R"(,"pid":7,"tid":)" + std::to_string(tid) + R"(,"ts":)" + std::to_string(ts) +
         R"(,"dur":)" + std::to_string(dur) + R"(,"ph":1,"args":{"hhash":"2a702c695247d487",)" + args + "}}\n";
}
std::string gpu_metadata(const std::string& name, const std::string& args) {
  return R"({"name":")" + name + R"(","cat":"dftracer","type":14,"pid":7,"tid":7,"ph":4,"args":{"hhash":)" +
         R"("2a702c695247d487",)" + args + "}}\n";
}
constexpr std::int64_t kStream = 1073741825;
constexpr std::int64_t kOtherStream = 1073741826;

std::string kernel(std::uint64_t id, const std::string& name, std::uint64_t ts, std::uint64_t dur, unsigned correlation,
                   const std::string& more = "", std::int64_t tid = kStream, const std::string& device = "0") {
  return gpu_line(id, "CUDA_KERNEL", name, ts, dur, tid,
                  "\"device_id\":" + device + ",\"correlation_id\":" + std::to_string(correlation) + more);
}
std::string call(std::uint64_t id, const std::string& name, std::uint64_t ts, unsigned correlation) {
  return gpu_line(id, "CUDA_RUNTIME_API", name, ts, 3, 7,
                  "\"cbid\":211,\"correlation_id\":" + std::to_string(correlation));
}
std::string copy(std::uint64_t id, const std::string& name, std::uint64_t ts, std::uint64_t dur, std::uint64_t bytes,
                 int source, int target, std::int64_t tid = kOtherStream, const std::string& device = "0") {
  return gpu_line(id, "CUDA_MEMCPY", name, ts, dur, tid,
                  "\"device_id\":" + device + ",\"correlation_id\":" + std::to_string(id + 1000) +
                      ",\"bytes\":" + std::to_string(bytes) + ",\"src_kind\":" + std::to_string(source) +
                      ",\"dst_kind\":" + std::to_string(target));
}

struct Reports {
  std::string text, json, csv, info, info_json;
};
Reports reports_of(const std::string& body, std::uint64_t events) {
  const TempDir dir;
  const auto file = dir.write("t.pfw", our_trace(body, events));
  const Said text = dftracer({"summary", "--gpu", file});
  EXPECT_EQ(text.status, 0) << text.err;
  return {text.out, dftracer({"summary", "--json", file}).out, dftracer({"summary", "--gpu", "--csv", file}).out,
          dftracer({"info", file}).out, dftracer({"info", "--json", file}).out};
}

TEST(GpuSummary, DeviceIsBusyByTheUnionAndIdleBetweenItsFirstAndLastWork) {
  // 2000..2100 kernel, 2050..2150 copy on another stream, 2400..2500 kernel: 500 long, 250 busy, 250 idle.
  const Reports out = reports_of(gpu_metadata("gpu_device", R"("device_id":0,"name":"NVIDIA H200","uuid":"GPU-1")") +
                                     kernel(2, "a", 2000, 100, 1) + copy(3, "MemcpyHtoD", 2050, 100, 1000, 2, 3) +
                                     kernel(4, "b", 2400, 100, 2),
                                 3);
  EXPECT_TRUE(contains(
      out.json,
      R"("devices":[{"pid":7,"device_id":0,"name":"NVIDIA H200","uuid":"GPU-1","kernels":2,"copies":1,"graphs":0,"span_us":500,"busy_us":250,"idle_us":250,"idle_share":0.5,"kernel_busy_us":200,"copy_busy_us":100,"both_busy_us":50,"longest_idle_us":250,"longest_idle_ns":2150000,"first_ns":2000000,"last_ns":2500000}])"))
      << out.json;
  EXPECT_TRUE(contains(out.text, "50.0 %")) << out.text;
  EXPECT_TRUE(contains(out.csv, "device,7,0,NVIDIA H200,3,,,,,,,,,500,250,250,0.5\n")) << out.csv;
  EXPECT_TRUE(contains(out.info, "NVIDIA H200")) << out.info;
  EXPECT_TRUE(contains(out.info_json, R"("gpu":{"notes":[],"devices":[{"pid":7,)")) << out.info_json;
}

TEST(GpuSummary, DevicesAndProcessesAreRowsOfTheirOwn) {
  const Reports out = reports_of(kernel(2, "a", 2000, 100, 1) + kernel(3, "a", 2000, 70, 2, "", kOtherStream, "1"), 2);
  EXPECT_TRUE(
      contains(out.json, R"("device_id":0,"name":"","uuid":"","kernels":1,"copies":0,"graphs":0,"span_us":100)"))
      << out.json;
  EXPECT_TRUE(contains(out.json, R"("device_id":1,"name":"","uuid":"","kernels":1,"copies":0,"graphs":0,"span_us":70)"))
      << out.json;
}

TEST(GpuSummary, ShortKernelsInOneMicrosecondDoNotHideEachOther) {
  // Four kernels of 700 ns, back to back from 2000.1 us on: the trace has their ts rounded down.
  const Reports out =
      reports_of(kernel(2, "k", 2000, 0, 1, R"(,"dur_ns":700)") + kernel(3, "k", 2000, 1, 2, R"(,"dur_ns":700)") +
                     kernel(4, "k", 2001, 1, 3, R"(,"dur_ns":700)") + kernel(5, "k", 2002, 0, 4, R"(,"dur_ns":700)"),
                 4);
  EXPECT_TRUE(contains(out.json, R"("busy_us":2.8,"idle_us":0,)")) << out.json;
  EXPECT_TRUE(contains(out.json, R"("lanes":[{"pid":7,"tid":1073741825,"count":4,"busy_us":2.8}])")) << out.json;
}

TEST(GpuSummary, KernelsByFallingTimeWithTheirShare) {
  const Reports out = reports_of(
      kernel(2, "small", 2000, 10, 1) + kernel(3, "large", 2100, 70, 2) + kernel(4, "large", 2200, 20, 3), 3);
  EXPECT_TRUE(contains(
      out.json,
      R"("kernel_names":2,"kernels":[{"name":"large","count":2,"total_us":90,"min_us":20,"mean_us":45,"max_us":70,"share":0.9},{"name":"small","count":1,"total_us":10,)"))
      << out.json;
  EXPECT_TRUE(contains(out.csv, "kernel,,,large,2,90,20,45,,,70,,,,,,0.9\n")) << out.csv;
  EXPECT_LT(out.text.find("large"), out.text.find("small"));
}

TEST(GpuSummary, CopiesByDirectionAndHostMemoryWithBandwidth) {
  const Reports out =
      reports_of(copy(2, "MemcpyHtoD", 2000, 100, 4000, 2, 3) + copy(3, "MemcpyHtoD", 2200, 300, 4000, 1, 3) +
                     copy(4, "MemcpyDtoH", 2600, 10, 500, 3, 2) + copy(5, "MemcpyDtoD", 2700, 10, 800, 3, 3),
                 4);
  EXPECT_TRUE(contains(
      out.json,
      R"({"direction":"HtoD","host_memory":"pageable","count":1,"total_us":300,"min_us":300,"mean_us":300,"max_us":300,"bytes":4000,"bandwidth":13333333.333333334},{"direction":"HtoD","host_memory":"pinned","count":1,"total_us":100,"min_us":100,"mean_us":100,"max_us":100,"bytes":4000,"bandwidth":40000000})"))
      << out.json;
  EXPECT_TRUE(contains(out.json, R"({"direction":"DtoD","host_memory":"","count":1,)")) << out.json;
  EXPECT_TRUE(contains(out.csv, "copy,,,HtoD pinned,1,100,100,100,,,100,4000,40000000,,,,\n")) << out.csv;
}

TEST(GpuSummary, CopyStagedBetweenTwoDevicesCountsItsBytesOnce) {
  const Reports out = reports_of(copy(2, "MemcpyDtoH", 2000, 100, 4000, 3, 3, kStream, "0") +
                                     copy(3, "MemcpyHtoD", 2050, 100, 4000, 3, 3, kOtherStream, "1"),
                                 2);
  EXPECT_TRUE(contains(out.json, R"("copies":[{"direction":"PtoP staged","host_memory":"","count":1,"total_us":200,)"))
      << out.json;
  EXPECT_TRUE(contains(out.json, R"("bytes":4000,"bandwidth":20000000}])")) << out.json;
}

TEST(GpuSummary, LatencyFromTheCallToTheKernelWhateverStandsFirst) {
  const Reports out =
      reports_of(call(2, "cudaLaunchKernel", 2000, 1) + kernel(3, "k", 2004, 1, 1) + kernel(4, "k", 2016, 1, 2) +
                     call(5, "cudaLaunchKernel", 2010, 2) + call(6, "cudaMalloc", 2020, 3) +
                     kernel(7, "k", 2030, 1, 4) + kernel(8, "k", 2031, 1, 2),
                 7);
  EXPECT_TRUE(contains(
      out.json,
      R"("launch_latency":[{"work":"kernel","pid":7,"device_id":0,"count":2,"min_us":4,"mean_us":5,"p50_us":4,"p99_us":6,"max_us":6}],"work_without_call":1)"))
      << out.json;
  EXPECT_TRUE(contains(out.csv, "launch_latency,7,0,kernel,2,10,4,5,4,6,6,,,,,,\n")) << out.csv;
}

TEST(GpuSummary, SaysThatTheDeviceWaitsForTheHost) {
  const Reports out = reports_of(call(2, "cudaLaunchKernel", 2000, 1) + kernel(3, "k", 2004, 10, 1) +
                                     call(4, "cudaLaunchKernel", 2100, 2) + kernel(5, "k", 2104, 10, 2),
                                 4);
  EXPECT_TRUE(
      contains(out.text,
               "note: GPU 0 of process 7 is idle 81.8 % of the time, and its work begins 4.00 us after the call "
               "(p50): it waits for the host to launch"))
      << out.text;
}

std::string graph(std::uint64_t id, std::uint64_t ts, unsigned correlation, int graph_id) {
  return gpu_line(id, "CUDA_GRAPH", "GraphTrace", ts, 50, kStream,
                  "\"device_id\":0,\"correlation_id\":" + std::to_string(correlation) +
                      ",\"graph_id\":" + std::to_string(graph_id));
}

TEST(GpuSummary, GraphLaunchesSayHowManyNodesTheyHide) {
  const std::string launches = call(2, "cudaGraphLaunch", 2000, 1) + graph(3, 2010, 1, 5) + graph(4, 2100, 2, 5);
  const Reports told = reports_of(gpu_metadata("gpu_graph", R"("graph_id":5,"nodes":100)") + launches, 3);
  EXPECT_TRUE(contains(
      told.text, "note: 2 graph launches stand for 200 hidden nodes. Set DFTRACER_CUDA_GRAPH=node to record each node"))
      << told.text;
  EXPECT_TRUE(
      contains(told.json, R"("graphs":{"launches":2,"launches_counted":2,"hidden_nodes":200,"nodes_recorded":0})"))
      << told.json;
  EXPECT_TRUE(contains(told.json, R"("launch_latency":[{"work":"graph","pid":7,"device_id":0,"count":1,"min_us":10,)"))
      << told.json;
  const Reports untold = reports_of(launches, 3);
  EXPECT_TRUE(contains(untold.text, "2 graph launches stand for nodes whose number the trace does not tell"))
      << untold.text;
}

TEST(GpuSummary, NodesOfAGraphCountTheirLaunchOnceByTheEarliest) {
  const auto node = [](std::uint64_t id, std::uint64_t ts) {
    return kernel(id, "k", ts, 1, 1, R"(,"graph_id":5,"graph_node_id":21474836481)");
  };
  const Reports out =
      reports_of(node(2, 2020) + call(3, "cudaGraphLaunch", 2000, 1) + node(4, 2010) + node(5, 2030), 4);
  EXPECT_TRUE(contains(
      out.json,
      R"("launch_latency":[{"work":"graph","pid":7,"device_id":0,"count":1,"min_us":10,"mean_us":10,"p50_us":10,"p99_us":10,"max_us":10}])"))
      << out.json;
  EXPECT_TRUE(contains(out.json, R"("nodes_recorded":3})")) << out.json;
}

TEST(GpuSummary, SynchronisationSuspectTimesAndStatus) {
  const Reports out = reports_of(
      gpu_metadata(
          "gpu_status",
          R"("backend":"cupti","state":"partial","code":13,"code_name":"CUPTI_ERROR_NOT_READY","category":"CUDA_GRAPH","detail":"older driver")") +
          gpu_line(2, "CUDA_SYNC", "StreamSynchronize", 2000, 40, kOtherStream, R"("device_id":0,"dur_ns":40500)") +
          kernel(3, "k", 2050, 0, 1, R"(,"dur_ns":0,"clock_suspect":"zero_end")"),
      2);
  EXPECT_TRUE(contains(
      out.json,
      R"("synchronisation":[{"name":"StreamSynchronize","count":1,"total_us":40.5,"min_us":40.5,"mean_us":40.5,"max_us":40.5}])"))
      << out.json;
  EXPECT_TRUE(contains(out.json, R"("suspect_times":1})")) << out.json;
  EXPECT_TRUE(
      contains(out.text,
               "note: GPU events are not complete: cupti partial for CUDA_GRAPH: CUPTI_ERROR_NOT_READY (older driver)"))
      << out.text;
}

TEST(GpuSummary, HipByTheSameCode) {
  const Reports out = reports_of(
      gpu_line(2, "HIP_RUNTIME_API", "hipLaunchKernel", 2000, 3, 7, R"("correlation_id":1)", 4) +
          gpu_line(3, "KERNEL_DISPATCH", "saxpy", 2006, 20, kStream, R"("device_id":2,"correlation_id":1)", 4) +
          gpu_line(4, "MEMORY_COPY", "MEMORY_COPY_HOST_TO_DEVICE", 2030, 10, kStream, R"("device_id":2,"bytes":500)",
                   4) +
          gpu_line(5, "HIP_RUNTIME_API", "hipDeviceSynchronize", 2030, 15, 7, R"("correlation_id":2)", 4),
      4);
  EXPECT_TRUE(contains(
      out.json, R"("device_id":2,"name":"","uuid":"","kernels":1,"copies":1,"graphs":0,"span_us":34,"busy_us":30,)"))
      << out.json;
  EXPECT_TRUE(contains(out.json, R"({"direction":"HtoD","host_memory":"","count":1,)")) << out.json;
  EXPECT_TRUE(contains(out.json, R"("work":"kernel","pid":7,"device_id":2,"count":1,"min_us":6,)")) << out.json;
  EXPECT_TRUE(contains(out.json, R"({"name":"hipDeviceSynchronize","count":1,"total_us":15,)")) << out.json;
}

// Work of HIP names its agent; the device is that of the lane's name, as in the record of the GPU.
TEST(GpuSummary, TheDeviceOfALaneIsInItsName) {
  std::string name = gpu_metadata("thread_name", R"("name":"GPU 1 queue 3","value":"thread_name")");
  name.replace(name.find("\"type\":14"), 9, "\"type\":4");
  const std::string tid = "\"tid\":";
  const std::size_t at = name.find(tid) + tid.size();
  name.replace(at, name.find(',', at) - at, std::to_string(kStream));
  std::string agent =
      gpu_metadata("gpu_device", R"("agent_id":3,"type":"GPU","device_id":1,"name":"MI300X","uuid":"GPU-2")");
  agent.replace(agent.find("\"type\":14"), 9, "\"type\":4");
  const Reports out = reports_of(
      agent + name +
          gpu_line(2, "KERNEL_DISPATCH", "saxpy", 2006, 20, kStream, R"("agent_id":3,"correlation_id":1)", 4),
      4);
  EXPECT_TRUE(contains(out.json, R"("device_id":1,"name":"MI300X","uuid":"GPU-2","kernels":1,)")) << out.json;
}

TEST(GpuSummary, NothingAboutGpusWhereThereAreNone) {
  const TempDir dir;
  const auto file = dir.write("t.pfw", our_trace(work(2, 2000, 10), 1));
  EXPECT_FALSE(contains(dftracer({"summary", "--json", file}).out, "\"gpu\""));
  EXPECT_FALSE(contains(dftracer({"info", file}).out, "GPU"));
}

// The trace that the recorded buffers of test/cuda/recordings give: record_workload on an H200, graph mode.
TEST(GpuSummary, OfATraceRecordedOnAnH200) {
  const TempDir dir;
  const auto file =
      dir.write("t.pfw", read::test::slurp(std::string(DFT_TEST_TRACES) + "/../../golden/cuda/h200-graph-quiet.jsonl"));
  const std::string out = dftracer({"summary", "--json", file}).out;
  EXPECT_TRUE(contains(out, R"("name":"NVIDIA H200",)")) << out;
  EXPECT_TRUE(contains(out, R"("kernels":7,"copies":6,"graphs":4,)")) << out;
  EXPECT_TRUE(contains(out, R"({"work":"kernel","pid":4242,"device_id":0,"count":7,)")) << out;
  EXPECT_TRUE(contains(out, R"({"work":"graph","pid":4242,"device_id":0,"count":4,)")) << out;
  EXPECT_TRUE(contains(out, R"("work_without_call":0,"graphs":{"launches":4,)")) << out;
}

TEST(GpuCat, FiltersChooseCategoriesLanesAndLayers) {
  const TempDir dir;
  const auto file =
      dir.write("t.pfw", our_trace(kernel(2, "matmul", 2000, 10, 1) + copy(3, "MemcpyHtoD", 2020, 5, 8, 2, 3) +
                                       call(4, "cudaMalloc", 2030, 9),
                                   3));
  const auto lines = [&](std::vector<std::string> filter) {
    filter.insert(filter.begin(), {"cat", "--raw", file});
    const std::string out = dftracer(filter).out;
    std::string found;
    for (const char* name : {"matmul", "MemcpyHtoD", "cudaMalloc", "start"}) {
      if (contains(out, std::string("\"name\":\"") + name + "\"")) found += std::string(name) + " ";
    }
    return found;
  };
  EXPECT_EQ(lines({"--cat", "CUDA_KERNEL"}), "matmul ");
  EXPECT_EQ(lines({"--cat", "CUDA_MEM*"}), "MemcpyHtoD ");
  EXPECT_EQ(lines({"--type", "CUDA"}), "matmul MemcpyHtoD cudaMalloc ");
  EXPECT_EQ(lines({"--tid", "1073741826"}), "MemcpyHtoD ");
}

TEST(LaunchJoin, KeepsTheLastWindowAndCountsWhatFellOut) {
  LaunchJoin join;
  constexpr std::uint32_t kIds = 2 * LaunchJoin::kWindow;
  for (std::uint32_t id = 0; id < kIds; ++id) join.work(1, id, 100, 0, false, false);
  for (std::uint32_t id = 0; id < kIds; ++id) {
    if (id >= LaunchJoin::kWindow) join.call(1, id, 90);
  }
  EXPECT_EQ(join.matches().size(), LaunchJoin::kWindow) << "the newest window is there";
  EXPECT_EQ(join.work_alone(), LaunchJoin::kWindow);
  join.call(2, 1, 50);
  join.work(2, 1, 40, 0, false, false);
  EXPECT_EQ(join.reversed(), 1u);
  EXPECT_EQ(join.matches().size(), LaunchJoin::kWindow) << "of another process, and before its call";
}

TEST(IntervalUnion, LongestGapOfSettledAndOpenIntervals) {
  IntervalUnion intervals;
  intervals.add(10, 20);
  intervals.add(50, 60);
  EXPECT_EQ(intervals.longest_gap().length, 30u);
  EXPECT_EQ(intervals.longest_gap().begin, 20u);
  intervals.settle();
  EXPECT_EQ(intervals.longest_gap().length, 30u);
  intervals.add(100, 110);
  EXPECT_EQ(intervals.longest_gap().begin, 60u);
  EXPECT_EQ(intervals.length(), 30u);
}

}  // namespace
}  // namespace dft::tools::test
