// SPDX-License-Identifier: MIT
#include "session/utc_date.h"

#include <gtest/gtest.h>
#include <time.h>

#include <string>

namespace dft::session {
namespace {

std::string by_libc(time_t when) {
  struct tm parts;
  char text[64] = {};
  gmtime_r(&when, &parts);
  asctime_r(&parts, text);
  return std::string(text).substr(0, std::string(text).find('\n'));
}

TEST(UtcDate, IsWhatAsctimeWrites) {
  char room[kDateRoom];
  EXPECT_EQ(utc_date(1795959617, room), "Sun Nov 29 13:40:17 2026");
  EXPECT_EQ(utc_date(0, room), "Thu Jan  1 00:00:00 1970");
}

TEST(UtcDate, AgreesWithLibcOnEveryDayOfFourHundredYears) {
  char room[kDateRoom];
  for (std::int64_t day = -80'000; day < 80'000; ++day) {
    const std::int64_t when = day * 86'400 + (day * 7'919 % 86'400 + 86'400) % 86'400;
    ASSERT_EQ(utc_date(when, room), by_libc(static_cast<time_t>(when))) << when;
  }
}

}  // namespace
}  // namespace dft::session
