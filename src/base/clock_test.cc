// SPDX-License-Identifier: MIT
#include "base/clock.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cmath>
#include <memory>
#include <random>

namespace dft::base {
namespace {

constexpr double kTicksPerNs = 2.445;
ClockPair at(std::uint64_t ns, std::int64_t error_ns = 0) {
  return {static_cast<Ticks>(static_cast<double>(ns) * kTicksPerNs) + 1'000'000, ns + 5'000'000'000u + error_ns, 20};
}

TEST(ClockMap, FollowsTheMonotonicClockWithinTheSamplingError) {
  auto map = std::make_unique<ClockMap>();
  map->start(at(0), 1'000'000);
  std::mt19937_64 random(1);
  for (std::uint64_t ns = 1'000'000; ns < 300'000'000'000u; ns += 7'000'000) {
    const std::int64_t noise = static_cast<std::int64_t>(random() % 61) - 30;
    map->advance(at(ns, noise));
    const auto got = static_cast<std::int64_t>(map->to_ns(at(ns).ticks) - (at(ns).monotonic_ns + 1'000'000));
    EXPECT_LT(std::abs(got), 500) << ns;
  }
  EXPECT_LT(map->knot_count(), 200u);
}

TEST(ClockMap, NeverRunsBackwardsAndNeverChangesItsMind) {
  auto map = std::make_unique<ClockMap>();
  map->start(at(0), 0);
  map->advance(at(600'000));
  std::mt19937_64 random(2);
  std::uint64_t last = 0;
  std::vector<std::pair<Ticks, std::uint64_t>> seen;
  for (std::uint64_t ns = 600'000; ns < 20'000'000'000u; ns += 1'000'003) {
    map->advance(at(ns, static_cast<std::int64_t>(random() % 2001) - 1000));
    const Ticks ticks = at(ns).ticks;
    const std::uint64_t now = map->to_ns(ticks);
    EXPECT_GE(now, last);
    last = now;
    seen.emplace_back(ticks, now);
  }
  for (const auto& [ticks, ns] : seen) EXPECT_EQ(map->to_ns(ticks), ns);
}

TEST(ClockMap, ThinsWithoutLosingOrder) {
  auto map = std::make_unique<ClockMap>();
  map->start(at(0), 0);
  for (std::uint64_t s = 1; s < 9000; ++s) map->advance(at(s * 10'000'000'001u));
  EXPECT_LE(map->knot_count(), ClockMap::kMaxKnots);
  std::uint64_t last = 0;
  for (std::uint64_t s = 0; s < 9000; s += 3) {
    const std::uint64_t now = map->to_ns(at(s * 10'000'000'001u).ticks);
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(ClockMap, RestoredKnotsGiveTheSameTimes) {
  auto map = std::make_unique<ClockMap>();
  map->start(at(0), 42);
  for (std::uint64_t s = 1; s < 30; ++s) map->advance(at(s * 1'100'000'000u));
  auto copy = std::make_unique<ClockMap>();
  copy->restore(map->knots(), map->knot_count());
  for (std::uint64_t ns = 0; ns < 33'000'000'000u; ns += 99'999'999) {
    EXPECT_EQ(copy->to_ns(at(ns).ticks), map->to_ns(at(ns).ticks));
  }
}

TEST(ClockMap, AnyTicksAndRatesOfDamagedMemoryGiveATime) {
  constexpr std::uint64_t kLongest = std::uint64_t{1} << 62;
  constexpr Ticks kEnd = ~Ticks{0};
  for (const double rate : {1.0, 600.0, 1e300, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    ClockMap map;
    const ClockKnot knot{1000, 5000, rate};
    map.restore(&knot, 1);
    EXPECT_EQ(map.to_ns(kEnd), 5000 + kLongest) << rate;
    EXPECT_EQ(map.to_ns(kEnd), 5000 + kLongest) << rate;  // with the piece remembered
    const bool usual = rate > 0.0 && rate < 1000.0;
    EXPECT_EQ(map.to_ns(1000 + 10), 5000 + (usual ? static_cast<std::uint64_t>(10 * rate) : kLongest)) << rate;
    EXPECT_EQ(map.to_ns(990), rate == 1.0 ? 4990u : 0u) << rate;
  }
}

TEST(Clock, DoesNotRunBackwardsAcrossCpus) {
  clock_start(true);
  cpu_set_t original;
  ASSERT_EQ(sched_getaffinity(0, sizeof original, &original), 0);
  Ticks last = clock_now();
  for (int round = 0; round < 200; ++round) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &original)) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      if (sched_setaffinity(0, sizeof one, &one) != 0) continue;
      const Ticks now = clock_now();
      EXPECT_GE(now, last);
      last = now;
    }
  }
  sched_setaffinity(0, sizeof original, &original);
}

TEST(Clock, FallbackContinuesInTheSameTickDomain) {
  clock_start(false);
  EXPECT_EQ(clock_state.source.load(), ClockSource::kMonotonic);
  const std::uint64_t now_ns = monotonic_ns();
  clock_state.fallback_ticks.store(1'000'000'000'000u);
  clock_state.fallback_ticks_per_ns.store(2.0);
  clock_state.fallback_ns.store(now_ns);
  const Ticks ticks = clock_now();
  EXPECT_GE(ticks, 1'000'000'000'000u);
  const std::uint64_t elapsed = monotonic_ns() - now_ns;
  EXPECT_LE(ticks, 1'000'000'000'000u + 2 * elapsed);
  clock_start(false);
}

}  // namespace
}  // namespace dft::base
