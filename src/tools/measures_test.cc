// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "tools/interval_union.h"
#include "tools/io_bytes.h"
#include "tools/log_histogram.h"
#include "tools/nesting.h"
#include "tools/output.h"
#include "tools/progress.h"
#include "tools/time_text.h"

namespace dft::tools {
namespace {

TEST(Nesting, DirectChildrenCountOnceAtEachLevel) {
  Nesting nesting;
  EXPECT_EQ(nesting.add(20, 30).children, 0u);
  EXPECT_EQ(nesting.add(40, 50).children, 0u);
  EXPECT_EQ(nesting.add(15, 60).children, 20u);
  EXPECT_EQ(nesting.add(70, 71).children, 0u);
  const auto outer = nesting.add(10, 100);
  EXPECT_EQ(outer.children, 46u);
  EXPECT_TRUE(outer.exact);
  EXPECT_FALSE(outer.overlaps);
}

TEST(Nesting, PartialOverlapAndReversedOrderAreSeen) {
  Nesting nesting;
  nesting.add(10, 20);
  EXPECT_TRUE(nesting.add(15, 25).overlaps);
  EXPECT_FALSE(nesting.add(25, 30).overlaps);
  EXPECT_FALSE(nesting.add(1, 5).in_order);
}

TEST(Nesting, EqualAndEmptyIntervalsNest) {
  Nesting nesting;
  nesting.add(5, 5);
  nesting.add(5, 5);
  EXPECT_EQ(nesting.add(5, 9).children, 0u);
  EXPECT_EQ(nesting.add(5, 9).children, 4u);
}

TEST(Nesting, AParentOfAMillionChildrenIsExactInBoundedMemory) {
  Nesting nesting;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) EXPECT_FALSE(nesting.add(10 + 3 * i, 12 + 3 * i).overlaps);
  const auto parent = nesting.add(5, 4'000'000);
  EXPECT_EQ(parent.children, 2'000'000u);
  EXPECT_TRUE(parent.exact);
}

TEST(LogHistogram, PercentilesAreWithinOnePercent) {
  std::mt19937_64 random(1);
  for (const double spread : {1.0, 4.0, 9.0}) {
    LogHistogram histogram;
    std::vector<std::uint64_t> values;
    std::lognormal_distribution<double> shape(6, spread);
    for (int i = 0; i < 50000; ++i) {
      values.push_back(static_cast<std::uint64_t>(std::min(shape(random), 1e18)));
      histogram.add(values.back());
    }
    std::sort(values.begin(), values.end());
    for (const double share : {0.0, 0.01, 0.5, 0.99, 1.0}) {
      const double rank = std::max(1.0, std::ceil(share * 50000 - 1e-6));
      const auto right = static_cast<double>(values[static_cast<std::size_t>(rank) - 1]);
      EXPECT_NEAR(static_cast<double>(histogram.at(share)), right, right * 0.01) << share;
    }
  }
}

TEST(LogHistogram, OfFewValuesTheLargestIsTheUpperPercentile) {
  LogHistogram histogram;
  histogram.add(1);
  histogram.add(60);
  EXPECT_EQ(histogram.at(0.5), 1u);
  EXPECT_EQ(histogram.at(0.99), 60u);
  for (std::uint64_t value = 2; value < 50; ++value) histogram.add(value);
  for (int i = 0; i < 50; ++i) histogram.add(59);
  EXPECT_EQ(histogram.at(0.01), 1u);
  EXPECT_EQ(histogram.at(0.07), 7u);
  EXPECT_EQ(histogram.at(0.99), 59u);
  EXPECT_EQ(histogram.at(1.0), 60u);
}

TEST(LogHistogram, NoMoreThanTheShareOfTheValuesIsAbove) {
  for (const std::uint64_t count : {1, 2, 3, 14, 99, 100, 101, 150, 200}) {
    LogHistogram histogram;
    for (std::uint64_t i = 0; i < count; ++i) histogram.add(i < 64 ? i : 63);  // small values are exact
    for (const double share : {0.5, 0.99}) {
      const std::uint64_t at = histogram.at(share);
      const auto above = static_cast<double>(at >= 63 ? 0 : count - at - 1);
      EXPECT_LE(above, (1 - share) * static_cast<double>(count) + 1e-6) << count << " " << share;
    }
  }
  LogHistogram three;
  for (const int value : {0, 0, 20}) three.add(static_cast<std::uint64_t>(value));
  EXPECT_EQ(three.at(0.99), 20u);
  EXPECT_EQ(three.at(0.5), 0u);
}

TEST(LogHistogram, KeepsTheUnitOfTheTraceAndBothEndsOfTheRange) {
  LogHistogram histogram;
  for (int i = 0; i < 10; ++i) histogram.add(3000);
  EXPECT_EQ(histogram.at(0.5, 1000), 3000u);
  LogHistogram ends;
  ends.add(0);
  ends.add(~std::uint64_t{0});
  EXPECT_EQ(ends.at(0), 0u);
  EXPECT_GT(ends.at(1), std::uint64_t{0xfe} << 56);
}

TEST(IntervalUnion, ParallelWorkCountsOnce) {
  IntervalUnion busy;
  busy.add(0, 100);
  busy.add(0, 100);
  busy.add(50, 120);
  busy.add(200, 210);
  busy.add(205, 205);
  busy.add(119, 130);
  EXPECT_EQ(busy.length(), 140u);
}

TEST(IntervalUnion, ManySeparateIntervalsStayExactWhenTheyComeInOrder) {
  IntervalUnion busy;
  for (std::uint64_t i = 0; i < 100'000; ++i) busy.add(10 * i, 10 * i + 3);
  EXPECT_EQ(busy.length(), 300'000u);
}

TEST(TimePoints, UnitsAreOffsetsAndPlainNumbersAbsolute) {
  EXPECT_EQ(parse_time_point("1.5s")->ns, 1'500'000'000u);
  EXPECT_EQ(parse_time_point("200ms")->ns, 200'000'000u);
  EXPECT_EQ(parse_time_point("10us")->ns, 10'000u);
  EXPECT_EQ(parse_time_point("2m")->ns, 120'000'000'000u);
  EXPECT_TRUE(parse_time_point("0s")->relative);
  EXPECT_FALSE(parse_time_point("1795961687776259")->relative);
  EXPECT_EQ(parse_time_point("1795961687776259")->unit, 1795961687776259u);
  for (const char* bad : {"", "x", "1.5", "-1s", "5 parsecs", "nan s", "1e99s"})
    EXPECT_FALSE(parse_time_point(bad)) << bad;
}

TEST(IoBytes, EveryVariantOfACallCounts) {
  EXPECT_EQ(plain_operation("__read_chk"), "read");
  EXPECT_EQ(plain_operation("pread64"), "pread");
  EXPECT_EQ(plain_operation("__pread64_chk"), "pread");
  EXPECT_EQ(plain_operation("fread_unlocked"), "fread");
  read::Event event;
  event.name = "fread";
  event.have = 1u << read::kArgRet | 1u << read::kArgSize;
  event.number[read::kArgRet] = 10;
  event.number[read::kArgSize] = 8;
  EXPECT_EQ(io_bytes(event), 80u);
  event.name = "__read_chk";
  EXPECT_EQ(io_bytes(event), 10u);
  event.name = "close";
  EXPECT_FALSE(io_bytes(event));
  event.name = "read";
  event.number[read::kArgRet] = -1;
  EXPECT_FALSE(io_bytes(event));
  event.have |= 1u << read::kArgBytes;
  event.number[read::kArgBytes] = 5;
  EXPECT_EQ(io_bytes(event), 5u);
}

// What a terminal gets of `work`, which runs in a process whose stdout and stderr it is.
std::string seen_on_a_terminal(void (*work)()) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return "no terminal";
  const int inside = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  const pid_t child = fork();
  if (child == 0) {
    dup2(inside, 1);
    dup2(inside, 2);
    work();
    std::fflush(stderr);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  close(inside);
  std::string seen;
  char piece[4096];
  for (ssize_t n; (n = ::read(terminal, piece, sizeof piece)) > 0;) seen.append(piece, static_cast<std::size_t>(n));
  close(terminal);
  return seen;
}

constexpr auto kAtOnce = std::chrono::milliseconds(-1000);
constexpr const char* kBar = "\rreading [###...........................] 10 % of 100 B\x1b[K";
constexpr const char* kWiped = "\r\x1b[K";

TEST(ProgressBar, MakesRoomForAMessage) {
  EXPECT_EQ(seen_on_a_terminal([] {
              Progress progress("reading", 100, kAtOnce);
              progress.at(10);
              message("a finding");
            }),
            std::string(kBar) + kWiped + "dftracer: a finding\r\n");
}

TEST(ProgressBar, GoesWhenOutputBeginsOnTheSameTerminal) {
  EXPECT_EQ(seen_on_a_terminal([] {
              Output out;
              Progress progress("reading", 100, kAtOnce);
              progress.at(10);
              out << "half a line";
              out.flush();
            }),
            std::string(kBar) + kWiped + "half a line");
  EXPECT_EQ(seen_on_a_terminal([] {
              Output out;
              Progress progress("reading", 100, kAtOnce);
              out << "half a line";
              out.flush();
              progress.at(10);
            }),
            "half a line");
}

TEST(ProgressBar, ShowsTheShareAndStaysInItsWidth) {
  EXPECT_EQ(Progress::bar("reading", 0, 100), "reading [..............................] 0 % of 100 B");
  EXPECT_EQ(Progress::bar("reading", 50, 100), "reading [###############...............] 50 % of 100 B");
  EXPECT_EQ(Progress::bar("reading", 200, 100), "reading [##############################] 100 % of 100 B");
}

TEST(HumanText, SizesAndTimes) {
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_time(1500), "1.50 us");
  EXPECT_EQ(human_count(1234567), "1,234,567");
  EXPECT_EQ(human_count(123), "123");
}

}  // namespace
}  // namespace dft::tools
