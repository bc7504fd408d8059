// SPDX-License-Identifier: MIT
#include "sources/gpu/gpu_source.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/drained_records_for_test.h"
#include "sources/gpu/fake_backend.h"

namespace dft::gpu {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

class GpuSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    base::clock_start(true);
    drained_.begin({});
    settings_.flush_interval_ns = 3600 * kSecond;
    settings_.buffer_size = 4096;
    settings_.buffer_limit = 1 << 20;
  }
  Activity kernel() {
    Activity activity;
    activity.begin = backend_.now_ns();
    activity.end = activity.begin;
    activity.device = 0;
    activity.kernel.symbol = nullptr;
    return activity;
  }
  std::size_t count(const char* name) {
    std::size_t found = 0;
    for (const record::CopiedRecord& record : drained_.records) {
      model::SiteDef site{};
      if (record::recorder.definitions.site(record.header().site, site) && site.name == name) ++found;
    }
    return found;
  }
  FakeBackend backend_;
  Settings settings_;
  record::DrainedRecords drained_;
};

TEST_F(GpuSourceTest, FlushRecordsWhatWasDone) {
  ASSERT_TRUE(cuda_source.start(settings_, backend_));
  backend_.waiting = {kernel(), kernel(), kernel()};
  EXPECT_TRUE(cuda_source.flush(20 * kSecond));
  EXPECT_EQ(cuda_source.summary().counts.records[static_cast<unsigned>(ActivityKind::kKernel)], 3u);
  EXPECT_TRUE(cuda_source.stop());
  drained_.end();
  EXPECT_EQ(count("kernel"), 3u);
  EXPECT_EQ(count("gpu_status"), 1u);
  EXPECT_GE(count("clock"), 1u);
}

TEST_F(GpuSourceTest, StopRecordsTheRestAndCanStartAgain) {
  for (std::size_t round = 1; round <= 2; ++round) {
    ASSERT_TRUE(cuda_source.start(settings_, backend_));
    backend_.drops = 5;
    backend_.waiting = {kernel()};
    EXPECT_TRUE(cuda_source.stop());
    EXPECT_FALSE(cuda_source.running());
    EXPECT_EQ(backend_.stops, static_cast<int>(round));
  }
  EXPECT_TRUE(cuda_source.stop());  // nothing to do
  EXPECT_TRUE(cuda_source.flush(0));
  drained_.end();
  EXPECT_EQ(count("kernel"), 2u);
  EXPECT_EQ(count("loss"), 2u);
}

TEST_F(GpuSourceTest, PauseAndResumeLeaveAGapThatIsSaid) {
  ASSERT_TRUE(cuda_source.start(settings_, backend_));
  backend_.waiting = {kernel()};
  EXPECT_TRUE(cuda_source.pause("torch.profiler"));
  EXPECT_FALSE(cuda_source.running());
  EXPECT_FALSE(cuda_source.pause("torch.profiler"));
  EXPECT_TRUE(cuda_source.resume());
  backend_.waiting = {kernel()};
  EXPECT_TRUE(cuda_source.stop());
  EXPECT_EQ(cuda_source.summary().counts.records[static_cast<unsigned>(ActivityKind::kKernel)], 2u);
  drained_.end();
  EXPECT_EQ(count("kernel"), 2u);
  ASSERT_EQ(count("loss"), 1u);
  for (const record::CopiedRecord& record : drained_.records) {
    if (record.text("cause") != "gpu_unavailable") continue;
    EXPECT_GT(record.arg("first_ts"), 0u);
    EXPECT_LE(record.arg("first_ts"), record.arg("last_ts"));
    EXPECT_EQ(record.text("detail"), "left to torch.profiler");
  }
  EXPECT_EQ(count("gpu_status"), 3u);  // on, left, on
}

TEST_F(GpuSourceTest, APauseThatLastsToTheEndIsSaid) {
  ASSERT_TRUE(cuda_source.start(settings_, backend_));
  EXPECT_TRUE(cuda_source.pause("a profiler"));
  EXPECT_TRUE(cuda_source.stop());
  EXPECT_TRUE(cuda_source.stop());
  EXPECT_FALSE(cuda_source.resume());
  drained_.end();
  EXPECT_EQ(count("loss"), 1u);
}

TEST_F(GpuSourceTest, FlushesByItselfAtTheInterval) {
  settings_.flush_interval_ns = 1'000'000;
  ASSERT_TRUE(cuda_source.start(settings_, backend_));
  while (backend_.flushes < 3) sched_yield();
  EXPECT_TRUE(cuda_source.stop());
  drained_.end();
}

TEST_F(GpuSourceTest, WorkThatStillRunsAtTheEndIsWaitedFor) {
  ASSERT_TRUE(cuda_source.start(settings_, backend_));
  backend_.held = {kernel(), kernel()};
  backend_.running = 5;
  EXPECT_TRUE(cuda_source.stop());
  drained_.end();
  EXPECT_EQ(count("kernel"), 2u);
  EXPECT_EQ(backend_.flushes, 5);
}

TEST_F(GpuSourceTest, TheEndDoesNotWaitForWhatItsOwnFlushesRecord) {
  ASSERT_TRUE(cuda_source.start(settings_, backend_));
  backend_.echoes = true;
  EXPECT_TRUE(cuda_source.flush(20 * kSecond));
  EXPECT_TRUE(cuda_source.stop());
  drained_.end();
  EXPECT_LT(backend_.flushes, 10);
}

TEST_F(GpuSourceTest, WorkThatNeverEndsDoesNotHoldTheEnd) {
  ASSERT_TRUE(cuda_source.start(settings_, backend_));
  backend_.held = {kernel()};
  EXPECT_TRUE(cuda_source.stop());
  drained_.end();
  EXPECT_EQ(count("kernel"), 0u);
}

TEST_F(GpuSourceTest, ABackendThatCannotStartLeavesNoThread) {
  backend_.starts = false;
  EXPECT_FALSE(cuda_source.start(settings_, backend_));
  EXPECT_FALSE(cuda_source.running());
  EXPECT_TRUE(cuda_source.stop());
  drained_.end();
  EXPECT_EQ(count("gpu_status"), 1u);
}

TEST_F(GpuSourceTest, ClocksOfAnyOriginAreMapped) {
  backend_.clock_offset_ns = 7'000 * kSecond;
  const base::Ticks before = base::clock_now();
  ASSERT_TRUE(cuda_source.start(settings_, backend_));
  backend_.waiting = {kernel()};
  EXPECT_TRUE(cuda_source.stop());
  const base::Ticks after = base::clock_now();
  drained_.end();
  for (const record::CopiedRecord& record : drained_.records) {
    if (record.header().kind != model::RecordKind::kEvent) continue;
    EXPECT_GE(record.header().begin, before);
    EXPECT_LE(record.header().end, after);
  }
  EXPECT_EQ(count("kernel"), 1u);
}

TEST_F(GpuSourceTest, AForkedChildIsDeadToTheVendor) {
  ASSERT_TRUE(cuda_source.start(settings_, backend_));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    cuda_source.in_forked_child();
    const int flushes = backend_.flushes;
    const bool calm = cuda_source.flush(kSecond) && cuda_source.stop() && !cuda_source.start(settings_, backend_);
    _exit(calm && backend_.flushes == flushes && backend_.children == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(cuda_source.stop());
  drained_.end();
}

}  // namespace
}  // namespace dft::gpu
