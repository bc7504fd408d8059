// SPDX-License-Identifier: MIT
// The source with its thread over the stand-in, where things go wrong.
#include <sys/wait.h>
#include <unistd.h>

#include "replay.h"
#include "sources/gpu/gpu_source.h"

namespace dft::gpu {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kUnifiedMemory = std::uint64_t{1} << 25;  // stays on: disabling it takes seconds

// The process's one is never destroyed either; each start has one of its own.
cupti::CuptiBackend* new_backend() {
  static auto* all = new std::vector<cupti::CuptiBackend*>;
  return all->emplace_back(new cupti::CuptiBackend);
}

class ReplayFaults : public testing::Test {
 protected:
  void begin(const std::string& words, Settings settings = {}, const record::PoolOptions& pool = {}) {
    standin_.configure(words);
    base::clock_start(false);  // ticks are nanoseconds
    drained_.begin(pool);
    settings.vendor_library = DFT_STANDIN;
    settings.buffer_size = 1 << 14;
    settings.buffer_limit = 64 << 20;             // of the first start: a pool stays
    settings.flush_interval_ns = 3600 * kSecond;  // only what the tests ask for
    backend_ = new_backend();
    running_ = cuda_source.start(settings, *backend_);
  }
  std::vector<std::string> end() {
    EXPECT_TRUE(cuda_source.stop());
    drained_.end();
    return lines_of(drained_, 0, model::TimeMetric::kUs);
  }
  void expect_shared(const std::string& words) {
    begin(words);
    ASSERT_TRUE(running_);
    EXPECT_TRUE(backend_->shares());
    EXPECT_TRUE(cuda_source.flush(20 * kSecond));
    const auto lines = end();
    const standin::Counters counters = standin_.counters();
    EXPECT_EQ(counters.closed, 0u);
    EXPECT_EQ(counters.unsubscribed, 1u);
    EXPECT_EQ(counters.enabled & ~kUnifiedMemory, 0u);
    EXPECT_EQ(counters.calls_left_out, 2u);
    EXPECT_EQ(count(lines, R"("cat":"CUDA_KERNEL")"), 4u);
    EXPECT_EQ(count(lines, R"("name":"GraphTrace")"), 1u);
    EXPECT_EQ(count(lines, R"("graph_id":5,"nodes":7)"), 1u);
    EXPECT_EQ(count(lines, R"("cause":"gpu_dropped","count":3)"), 1u);
    EXPECT_EQ(count(lines, R"("state":"on")"), 1u);
  }
  Standin standin_;
  cupti::CuptiBackend* backend_ = nullptr;
  record::DrainedRecords drained_;
  bool running_ = false;
};

TEST_F(ReplayFaults, EveryRecordArrivesFromManyThreads) {
  begin("threads=4 repeat=500 shift=1");
  ASSERT_TRUE(running_);
  EXPECT_TRUE(cuda_source.flush(20 * kSecond));
  const Summary summary = cuda_source.summary();
  const auto lines = end();
  EXPECT_EQ(standin_.counters().refused, 0u);
  EXPECT_EQ(summary.counts.records[static_cast<unsigned>(ActivityKind::kKernel)], 500u * 4);
  EXPECT_EQ(count(lines, R"("cat":"CUDA_KERNEL")"), 500u * 4);
  EXPECT_EQ(count(lines, "clock_suspect"), 0u);
  EXPECT_EQ(count(lines, "gpu_dropped"), 0u);
}

TEST_F(ReplayFaults, StopAloneRecordsEverythingAndSwitchesOff) {
  begin("hold=1 shift=1");
  EXPECT_TRUE(cuda_source.flush(20 * kSecond));
  const auto lines = end();
  EXPECT_EQ(count(lines, R"("cat":"CUDA_KERNEL")"), 4u);
  EXPECT_EQ(standin_.counters().unsubscribed, 1u);
  EXPECT_EQ(standin_.counters().enabled & ~kUnifiedMemory, 0u);
}

TEST_F(ReplayFaults, RefusedBuffersAreAnExactLoss) {
  Settings settings;
  begin("repeat=4000 shift=1", settings);  // far more than the limit holds at once
  EXPECT_TRUE(cuda_source.flush(20 * kSecond));
  const auto lines = end();
  const standin::Counters counters = standin_.counters();
  if (counters.discarded == 0) GTEST_SKIP() << "the decoding thread kept pace";
  EXPECT_EQ(count(lines, "\"count\":" + std::to_string(counters.discarded)), 1u) << first(lines, "gpu_dropped");
}

TEST_F(ReplayFaults, WhatFindsNoRoomIsCountedOnce) {
  record::PoolOptions pool;
  pool.wait = false;
  pool.limit_bytes = 4 * model::kChunkSize;
  begin("repeat=2000 shift=1", {}, pool);
  EXPECT_TRUE(cuda_source.flush(20 * kSecond));
  const Summary summary = cuda_source.summary();
  std::uint64_t decoded = 0;
  for (const std::uint64_t records : summary.counts.records) decoded += records;
  end();
  EXPECT_GT(drained_.lost, 1000u);
  EXPECT_GE(drained_.lost, decoded - drained_.events());
  // Metadata is lost too, a tenth as much.
  EXPECT_LT(drained_.lost, (decoded - drained_.events()) * 3 / 2);
}

TEST_F(ReplayFaults, BuffersAfterTheEndAreCountedAndLeftAlone) {
  begin("shift=1");
  end();
  standin_.deliver_late();  // nobody decodes it, nothing breaks
  begin("shift=1");
  const auto lines = end();
  EXPECT_EQ(count(lines, R"("cause":"gpu_late")"), 1u);
  EXPECT_EQ(count(lines, R"("cat":"CUDA_KERNEL")"), 8u);
}

TEST_F(ReplayFaults, AnotherHolderIsNamedAndNothingIsRegistered) {
  begin("conflict=nsys");
  EXPECT_FALSE(running_);
  const standin::Counters counters = standin_.counters();
  EXPECT_EQ(counters.enabled, 0u);
  const auto lines = end();
  const std::string status = first(lines, "gpu_status");
  EXPECT_NE(
      status.find(
          R"("state":"off","code":39,"code_name":"CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED","holder":"nsys")"),
      std::string::npos)
      << status;
}

TEST_F(ReplayFaults, WhereSeveralSubscribersMayWorkCuptiIsShared) {
  expect_shared("share=1 api=130300 shift=1 drops=3 graph=5:3:4 hold=1");
}

TEST_F(ReplayFaults, WhoCameFirstAndSharesIsJoined) {
  expect_shared("share=1 api=130300 shift=1 drops=3 graph=5:3:4 conflict=torch");
}

TEST_F(ReplayFaults, WhereTheDriverLetsNobodyShareTheTracerHoldsCuptiAlone) {
  begin("api=130300 shift=1");
  ASSERT_TRUE(running_);
  EXPECT_FALSE(backend_->shares());
  EXPECT_EQ(count(end(), R"("cat":"CUDA_KERNEL")"), 4u);
}

TEST_F(ReplayFaults, BeforeRecordsOfSeveralCanBeReadTheTracerHoldsCuptiAlone) {
  begin("api=130200 share=1 shift=1");
  ASSERT_TRUE(running_);
  EXPECT_FALSE(backend_->shares());
  EXPECT_EQ(count(end(), R"("cat":"CUDA_KERNEL")"), 4u);
}

TEST_F(ReplayFaults, AHolderThatDoesNotShareIsNamedByANewerCuptiToo) {
  begin("api=130300 conflict=nsys");
  EXPECT_FALSE(running_);
  EXPECT_NE(first(end(), "gpu_status").find(R"("holder":"nsys")"), std::string::npos);
}

TEST_F(ReplayFaults, AnotherSubscribersGraphsNodeByNodeAreSaid) {
  begin("share=1 api=130300 shift=1 nodes=1");
  ASSERT_TRUE(running_);
  EXPECT_EQ(standin_.counters().enabled >> 51 & 1u, 0u);
  const auto lines = end();
  EXPECT_NE(first(lines, R"("state":"partial")").find("node by node"), std::string::npos);
  EXPECT_EQ(count(lines, R"("cat":"CUDA_KERNEL")"), 4u);
}

TEST_F(ReplayFaults, ARefusedKindSwitchesOffItselfOnly) {
  begin("fail=51:27 shift=1");  // graph launches
  ASSERT_TRUE(running_);
  const auto lines = end();
  EXPECT_EQ(count(lines, R"("state":"partial","code":27)"), 1u);
  EXPECT_NE(first(lines, R"("code":27)").find(R"("category":"CUDA_GRAPH")"), std::string::npos);
  EXPECT_EQ(count(lines, R"("cat":"CUDA_KERNEL")"), 4u);
}

TEST_F(ReplayFaults, UnifiedMemoryWaitsForTheFirstContext) {
  begin("no_context=1 shift=1");
  EXPECT_EQ(standin_.counters().enabled >> 25 & 1u, 0u);
  EXPECT_TRUE(cuda_source.flush(20 * kSecond));
  EXPECT_EQ(standin_.counters().enabled >> 25 & 1u, 1u);
  const auto lines = end();
  EXPECT_EQ(count(lines, "CUDA_UNIFIED_MEMORY\""), 2u);
  EXPECT_EQ(standin_.counters().enabled & ~kUnifiedMemory, 0u);
}

TEST_F(ReplayFaults, NodeModeDoesNotAskForGraphLaunches) {
  Settings settings;
  settings.graph = GraphMode::kNode;
  begin("shift=1", settings);
  EXPECT_EQ(standin_.counters().enabled >> 51 & 1u, 0u);
  EXPECT_EQ(standin_.counters().enabled >> 10 & 1u, 1u);
  end();
}

TEST_F(ReplayFaults, GraphsSayHowManyNodesEachLaunchHides) {
  begin("graph=5:3:4 shift=1");
  const auto lines = end();
  EXPECT_EQ(count(lines, "gpu_graph"), 1u);
  EXPECT_NE(first(lines, "gpu_graph").find(R"("graph_id":5,"nodes":7)"), std::string::npos)
      << first(lines, "gpu_graph");
  EXPECT_EQ(count(lines, R"("name":"GraphTrace")"), 1u);
}

TEST_F(ReplayFaults, NodesAreCountedOnlyWhereLaunchesHideThem) {
  Settings settings;
  settings.graph = GraphMode::kNode;
  begin("graph=5:3:4 shift=1", settings);
  EXPECT_EQ(count(end(), "gpu_graph"), 0u);
  begin("graph=5:3:4 fail=51:27 shift=1");  // no record of launches either
  EXPECT_EQ(count(end(), "gpu_graph"), 0u);
}

TEST_F(ReplayFaults, QuietModeSwitchesCallsOffAtTheSource) {
  begin("shift=1");
  EXPECT_EQ(standin_.counters().calls_left_out, 2u);  // cudaGetDevice and cuKernelGetName of the recording's names
  const auto lines = end();
  EXPECT_EQ(count(lines, R"("cause":"api_quiet")"), 1u);
}

TEST_F(ReplayFaults, AForkedChildNeverCallsTheLibrary) {
  begin("shift=1");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    cuda_source.in_forked_child();
    cuda_source.flush(kSecond);
    cuda_source.stop();
    cupti::CuptiBackend fresh;
    _exit(cuda_source.start({}, *backend_) ? 1 : 0);  // the stand-in would end the child with 99
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  const auto lines = end();
  EXPECT_EQ(count(lines, R"("cat":"CUDA_KERNEL")"), 4u);
}

TEST_F(ReplayFaults, ALibraryThatHangsDoesNotHoldTheEnd) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // a process of its own: its thread is lost for good
  EXPECT_EXIT(
      {
        Settings settings;
        settings.exit_timeout_ns = 50'000'000;
        begin("hang=1", settings);
        _exit(running_ && !cuda_source.stop() && !cuda_source.running() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(ReplayFaults, TimesLieBetweenReadingsOfTheTraceClock) {
  const base::Ticks before = base::clock_now();
  begin("shift=1");
  const auto lines = end();
  const base::Ticks after = base::clock_now();
  // The recording spans 720 microseconds and ends at the flush.
  for (const record::CopiedRecord& record : drained_.records) {
    if (record.header().kind != model::RecordKind::kEvent) continue;
    EXPECT_GE(record.header().begin + 3'000'000, before);
    EXPECT_LE(record.header().end, after);
  }
}

}  // namespace
}  // namespace dft::gpu
