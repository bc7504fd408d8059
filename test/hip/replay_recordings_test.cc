// SPDX-License-Identifier: MIT
// What the real rocprofiler-sdk delivered (on a null GPU, for programs/record_workload.cc) gives, byte for byte, the
// lines that are committed. DFT_UPDATE_GOLDEN=1 writes them anew; look at the difference.
#include <algorithm>
#include <memory>
#include <set>

#include "hip_replay.h"
#include "recorded_sdk.h"
#include "sources/gpu/activity_writer.h"

namespace dft::gpu {
namespace {

struct Recording {
  const char* name;
  bool has_allocations, has_ancestors;
};
void PrintTo(const Recording& recording, std::ostream* out) { *out << recording.name; }
std::string file_of(const Recording& recording) {
  return std::string(DFT_HIP_RECORDINGS) + "/sdk-" + recording.name + ".txt";
}

struct Replay {
  explicit Replay(const std::string& path) : sdk(path) {}
  RecordedSdk sdk;
  Settings settings;
  std::vector<std::string> lines;

  void run() {
    static BufferPool pool;
    EXPECT_TRUE(pool.reserve(1 << 16, 64 << 20, nullptr));
    settings.amd_device = "/nowhere";  // none was there
    base::clock_start(false);
    record::DrainedRecords drained;
    drained.begin({});
    GpuClock clock;
    clock.add({sdk.began_ns() - kSecond, 1 * kSecond, 1 * kSecond, 40});
    clock.add({sdk.began_ns() + kSecond, 3 * kSecond, 3 * kSecond, 40});
    const auto writer = std::make_unique<ActivityWriter>();  // as in a process of its own
    rocprof::RocprofBackend* const backend = new_backend();
    Statuses statuses;
    writer->configure(settings, *backend, clock);
    EXPECT_TRUE(backend->make(sdk.opened(), settings));
    EXPECT_TRUE(backend->start(settings, pool, statuses));
    sdk.play();
    EXPECT_FALSE(backend->work_is_left());
    backend->stop();
    pool.drain([&](const RawBuffer& buffer) {
      writer->arrived_at(sdk.began_ns() + 60 * kSecond);
      backend->decode(buffer, *writer);
    });
    backend->collect_losses(*writer);
    drained.end();
    lines = lines_of(drained, sdk.began_ns() - 2 * kSecond, settings.time_metric);
  }
  std::vector<std::string> of(const std::string& what) const {
    std::vector<std::string> out;
    std::copy_if(lines.begin(), lines.end(), std::back_inserter(out),
                 [&](const std::string& line) { return line.find(what) != std::string::npos; });
    return out;
  }
};

class HipRecordings : public testing::TestWithParam<Recording> {
 protected:
  static Settings settings(bool with_markers) {
    Settings out;
    out.categories = rocprof::default_kinds();
    // Ranges have the times of the replay.
    if (!with_markers) out.categories &= ~(1u << rocprof::kind_index("MARKER_CORE_API"));
    return out;
  }
  Replay replay_{file_of(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(, HipRecordings,
                         testing::Values(Recording{"0.5.0", false, false}, Recording{"1.0.0", true, true}),
                         [](const auto& recording) {
                           std::string name = std::string("Sdk") + recording.param.name;
                           name.erase(std::remove(name.begin(), name.end(), '.'), name.end());
                           return name;
                         });

TEST_P(HipRecordings, Quiet) {
  replay_.settings = settings(false);
  replay_.run();
  expect_lines(replay_.lines, std::string(DFT_GOLDEN_DIR) + "/hip/recorded-quiet-" + GetParam().name + ".jsonl");
}

TEST_P(HipRecordings, AllCallsNanoseconds) {
  replay_.settings = settings(false);
  replay_.settings.api = ApiMode::kAll;
  replay_.settings.time_metric = model::TimeMetric::kNs;
  replay_.run();
  expect_lines(replay_.lines, std::string(DFT_GOLDEN_DIR) + "/hip/recorded-all-ns-" + GetParam().name + ".jsonl");
}

TEST_P(HipRecordings, EveryRecordIsAnEvent) {
  replay_.settings = settings(true);
  replay_.settings.api = ApiMode::kAll;
  replay_.run();
  EXPECT_EQ(replay_.sdk.left_out(), 0u);
  EXPECT_EQ(count(replay_.lines, "gpu_undecodable"), 0u);
  for (const char* kind : {"HIP_RUNTIME_API", "HSA_CORE_API", "HSA_AMD_EXT_API", "KERNEL_DISPATCH", "MEMORY_COPY"}) {
    EXPECT_GT(replay_.sdk.recorded(kind), 0u) << kind;
    EXPECT_EQ(count(replay_.lines, std::string(R"("cat":")") + kind + '"'), replay_.sdk.recorded(kind)) << kind;
  }
  EXPECT_EQ(count(replay_.lines, R"("cat":"MEMORY_ALLOCATION")"), replay_.sdk.recorded("MEMORY_ALLOCATION"));
  EXPECT_EQ(replay_.sdk.recorded("MEMORY_ALLOCATION") > 0, GetParam().has_allocations);
  EXPECT_EQ(count(replay_.lines, R"("cat":"MARKER_CORE_API")"), 5u);  // two threads' range and mark, one across
}

// With HSA traced, work carries the ids of HSA's calls.
TEST_P(HipRecordings, WorkBelongsToTheHipCallThatAskedForIt) {
  replay_.settings = settings(true);
  replay_.run();
  const auto calls = [&](const char* name) {
    std::set<std::uint64_t> ids;
    const std::string start = std::string(R"("name":")") + name + R"(","cat":"HIP_RUNTIME_API")";
    for (const std::string& line : replay_.of(start)) ids.insert(number_after(line, "correlation_id"));
    return ids;
  };
  const std::set<std::uint64_t> launches = calls("hipModuleLaunchKernel"), copies = calls("hipMemcpyAsync");
  EXPECT_EQ(launches.size(), 4u);
  EXPECT_EQ(copies.size(), 6u);
  std::set<std::uint64_t> launched, copied;
  for (const char* kernel :
       {R"x("name":"void train::scale<float>(float*, int)","cat")x", R"x("name":"train::nothing()","cat")x"}) {
    for (const std::string& line : replay_.of(kernel)) launched.insert(number_after(line, "correlation_id"));
  }
  for (const std::string& line : replay_.of(R"("cat":"MEMORY_COPY")")) {
    copied.insert(number_after(line, "correlation_id"));
    EXPECT_EQ(number_after(line, "bytes"), 65536u * 4);
  }
  // That on the device is a kernel of HIP's own.
  for (const std::string& line : replay_.of(R"("name":"__amd_rocclr_copyBuffer","cat")"))
    copied.insert(number_after(line, "correlation_id"));
  EXPECT_EQ(launched, launches);
  EXPECT_EQ(copied, copies);
}

TEST_P(HipRecordings, CallsReferToTheRangeTheyAreIn) {
  replay_.settings = settings(true);
  replay_.run();
  const auto marks = replay_.of(R"("name":"launched \"both\"")");
  ASSERT_EQ(marks.size(), 2u);
  std::set<std::uint64_t> ranges, ancestors;
  for (const std::string& line : replay_.of(R"("name":"iteration")"))
    ranges.insert(number_after(line, "correlation_id"));
  EXPECT_EQ(ranges.size(), 2u);
  for (const std::string& line : replay_.of(R"("name":"hipModuleLaunchKernel")"))
    ancestors.insert(number_after(line, "ancestor_id"));
  EXPECT_EQ(ancestors == ranges, GetParam().has_ancestors);
}

}  // namespace
}  // namespace dft::gpu
