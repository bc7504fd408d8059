// SPDX-License-Identifier: MIT
#include "sources/gpu/gpu_clock.h"

#include <gtest/gtest.h>

#include <iterator>
#include <memory>

namespace dft::gpu {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// Ticks run at 3 a nanosecond, the vendor's clock 100 millionths fast.
ClockSample at(std::uint64_t mono_ms, std::int64_t offset = 0) {
  const std::uint64_t mono = mono_ms * kMs;
  return {1'000'000'000'000 + mono + mono / 10'000 + static_cast<std::uint64_t>(offset), 500 + 3 * mono, mono, 30};
}

class GpuClockTest : public testing::Test {
 protected:
  std::unique_ptr<GpuClock> clock_ = std::make_unique<GpuClock>();
};

TEST_F(GpuClockTest, MeetsEverySampleAndIsLinearBetween) {
  for (std::uint64_t ms : {0u, 1000u, 2500u, 4000u}) EXPECT_EQ(clock_->add(at(ms)), 0);
  for (std::uint64_t ms : {0u, 1000u, 2500u, 4000u, 500u, 3999u, 1u}) {
    const ClockSample sample = at(ms);
    EXPECT_NEAR(static_cast<double>(clock_->to_ticks(sample.vendor_ns)), static_cast<double>(sample.ticks), 2.0) << ms;
  }
}

TEST_F(GpuClockTest, ContinuesBeyondTheEnds) {
  clock_->add(at(1000));
  clock_->add(at(2000));
  EXPECT_NEAR(static_cast<double>(clock_->to_ticks(at(2100).vendor_ns)), static_cast<double>(at(2100).ticks), 4.0);
  EXPECT_NEAR(static_cast<double>(clock_->to_ticks(at(900).vendor_ns)), static_cast<double>(at(900).ticks), 4.0);
}

TEST_F(GpuClockTest, NeverRunsBackwards) {
  for (std::uint64_t i = 0; i < 50; ++i) clock_->add(at(i * 37 + i % 3, static_cast<std::int64_t>(i % 7) * 20));
  base::Ticks last = 0;
  for (std::uint64_t ns = at(0).vendor_ns; ns < at(50 * 37).vendor_ns; ns += 100'000) {
    const base::Ticks ticks = clock_->to_ticks(ns);
    EXPECT_GE(ticks, last);
    last = ticks;
  }
}

TEST_F(GpuClockTest, NothingOfAPieceIsBehindItsEnd) {
  const std::int64_t step = 500 * static_cast<std::int64_t>(kMs);  // a piece that is longer for the vendor's clock
  const ClockSample samples[] = {at(0), at(10), at(20, step), at(30, step + 3), at(40, step - 2)};
  for (const ClockSample& sample : samples) clock_->add(sample);
  for (std::size_t piece = 0; piece + 1 < std::size(samples); ++piece) {
    const std::uint64_t end = samples[piece + 1].vendor_ns;
    base::Ticks last = samples[piece].ticks;
    // Each time twice: found, and remembered.
    for (std::uint64_t ns = samples[piece].vendor_ns; ns < end; ns += (end - ns) / 50 + 1) {
      for (int i = 0; i < 2; ++i) {
        const base::Ticks ticks = clock_->to_ticks(ns);
        ASSERT_GE(ticks, last) << piece << " " << ns;
        ASSERT_LE(ticks, samples[piece + 1].ticks) << piece << " " << ns;
        last = ticks;
      }
    }
  }
}

TEST_F(GpuClockTest, AStepOfTheWallClockIsTold) {
  clock_->add(at(0));
  clock_->add(at(1000));
  const std::int64_t second = 1'000'000'000;
  EXPECT_NEAR(static_cast<double>(clock_->add(at(2000, second))), 1e9, 2e5);
  EXPECT_EQ(clock_->add(at(3000, second)), 0);
  // Before and behind the step the map is right; the sample after it is met.
  EXPECT_NEAR(static_cast<double>(clock_->to_ticks(at(500).vendor_ns)), static_cast<double>(at(500).ticks), 4.0);
  EXPECT_NEAR(static_cast<double>(clock_->to_ticks(at(2500, second).vendor_ns)), static_cast<double>(at(2500).ticks),
              4.0);
  EXPECT_LE(clock_->to_ticks(at(1999, second).vendor_ns), at(2000).ticks);
}

TEST_F(GpuClockTest, AStepBackIsTold) {
  clock_->add(at(0));
  clock_->add(at(1000));
  EXPECT_LT(clock_->add(at(2000, -5'000'000'000)), -4'000'000'000);
  clock_->add(at(3000, -5'000'000'000));
  EXPECT_NEAR(static_cast<double>(clock_->to_ticks(at(2500, -5'000'000'000).vendor_ns)),
              static_cast<double>(at(2500).ticks), 4.0);
}

TEST_F(GpuClockTest, ManySamplesKeepTheNewestExact) {
  for (std::uint64_t i = 0; i < 5000; ++i) clock_->add(at(i * 1000));
  EXPECT_NEAR(static_cast<double>(clock_->to_ticks(at(4'998'500).vendor_ns)), static_cast<double>(at(4'998'500).ticks),
              4.0);
}

TEST_F(GpuClockTest, RealSamplesAreNarrow) {
  base::clock_start(true);
  const ClockSample sample = GpuClock::sample([] { return base::monotonic_ns(); });
  EXPECT_LE(sample.vendor_ns, sample.monotonic_ns + sample.bracket_ns);
  EXPECT_GE(sample.vendor_ns + sample.bracket_ns, sample.monotonic_ns);
}

}  // namespace
}  // namespace dft::gpu
