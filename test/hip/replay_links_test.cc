// SPDX-License-Identifier: MIT
// Names, ROCTx ranges, and which call work belongs to, over several releases of the stand-in for rocprofiler-sdk.
#include <set>
#include <thread>

#include "hip_replay.h"

namespace dft::gpu {
namespace {

class HipLinks : public HipReplay {};
INSTANTIATE_TEST_SUITE_P(, HipLinks, testing::Values(kSdk05, kSdk06, kSdk10, kSdk13),
                         [](const auto& release) { return std::string("Sdk") + release.param.name; });

// ------------------------------------------------------------------------------------------------------------- names

TEST_P(HipLinks, NamesOfAnyLength) {
  begin();
  sdk_.symbol(true, 1, "");
  const std::string huge(512 << 10, 'k');
  sdk_.symbol(true, 2, huge.c_str());
  sdk_.symbol(true, 3, ".kd");
  sdk_.symbol(true, 4, "plain \"quoted\"\n.kd");
  for (std::uint64_t kernel = 1; kernel <= 4; ++kernel) launch(kernel);
  const auto lines = end();
  EXPECT_EQ(count(lines, R"("cat":"KERNEL_DISPATCH")"), 4u);
  EXPECT_EQ(count(lines, "\"name\":\"" + huge + "\",\"cat\":\"KERNEL_DISPATCH\""), 1u);
  EXPECT_EQ(count(lines, R"("name":"","cat":"KERNEL_DISPATCH")"), 0u) << "an event without a name";
  EXPECT_EQ(count(lines, R"("name":"plain \"quoted\"\n","cat":"KERNEL_DISPATCH")"), 1u);
}

// ------------------------------------------------------------------------------------------------------------- ROCTx

TEST_P(HipLinks, RangesArePairedAndHaveTheirText) {
  begin("", only({"MARKER_CORE_API"}));
  const auto push = [&](const char* text) { sdk_.marker("roctxRangePushA", text, 0, 0); };
  const auto pop = [&] { sdk_.marker("roctxRangePop", nullptr, 0, 0); };
  pop();  // nothing is open
  push("outer");
  push("inner \"quoted\"");
  sdk_.marker("roctxMarkA", "mark", 0, 0);
  pop();
  pop();
  sdk_.marker("roctxRangeStartA", "across", 0, 5);
  std::thread([&] { sdk_.marker("roctxRangeStop", nullptr, 5, 0); }).join();
  sdk_.marker("roctxRangeStop", nullptr, 77, 0);  // never started
  push("open");
  const auto lines = end();
  const std::string cat = R"(,"cat":"MARKER_CORE_API")";
  for (const char* name : {"outer", R"(inner \"quoted\")", "mark", "across"}) {
    EXPECT_EQ(count(lines, std::string(R"("name":")") + name + "\"" + cat), 1u) << name;
  }
  EXPECT_EQ(number_after(first(lines, R"("name":"mark")"), "dur"), 0u);
  EXPECT_LE(count(lines, cat), 5u);
  pop();
}

TEST_P(HipLinks, MarkersCanBeLeftOut) {
  begin("", only({"KERNEL_DISPATCH"}));
  sdk_.marker("roctxRangePushA", "outer", 0, 0);
  sdk_.marker("roctxRangePop", nullptr, 0, 0);
  EXPECT_EQ(count(end(), "MARKER_CORE_API"), 0u);
}

// ------------------------------------------------------------------------------------------------------- correlation

void expect_pairs(const std::vector<std::string>& lines) {
  std::set<std::uint64_t> calls, work;
  for (const std::string& line : lines) {
    if (line.find(R"("cat":"HIP_RUNTIME_API")") != std::string::npos)
      calls.insert(number_after(line, "correlation_id"));
    if (line.find(kScale) != std::string::npos) work.insert(number_after(line, "correlation_id"));
  }
  EXPECT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls, work);
}

TEST_P(HipLinks, WorkBelongsToItsHipCall) {
  begin("", only({"HIP_RUNTIME_API", "KERNEL_DISPATCH"}));
  symbol();
  for (int i = 0; i < 3; ++i) launch();
  expect_pairs(end());
}

TEST_P(HipLinks, WorkBelongsToTheHipCallThatCalledHsa) {
  Settings settings = only({"HIP_RUNTIME_API", "KERNEL_DISPATCH", "HSA_CORE_API", "HSA_AMD_EXT_API"});
  settings.api = ApiMode::kAll;
  begin("", settings);
  symbol();
  for (int i = 0; i < 3; ++i) launch();
  const auto lines = end();
  expect_pairs(lines);
  EXPECT_EQ(count(lines, R"("cat":"HSA_CORE_API")"), 3u);
  EXPECT_EQ(count(lines, "ancestor_id"), is_1() ? 3u : 0u);
}

TEST_P(HipLinks, QuietModeLeavesQueriesOutAtTheSource) {
  begin();
  sdk_.enter("HIP_RUNTIME_API", "hipGetDevice");
  sdk_.leave(0);
  sdk_.enter("HIP_RUNTIME_API", "hipMalloc");
  sdk_.leave(0);
  const auto lines = end();
  EXPECT_EQ(count(lines, R"("name":"hipMalloc")"), 1u);
  EXPECT_EQ(count(lines, R"("name":"hipGetDevice")"), 0u);
  EXPECT_EQ(count(lines, R"("cause":"api_quiet")"), 1u);
}

}  // namespace
}  // namespace dft::gpu
