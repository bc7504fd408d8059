// SPDX-License-Identifier: MIT
#include "session/utc_date.h"

#include <cstdio>

namespace dft::session {

namespace {

constexpr std::int64_t kDaySeconds = 86'400;
struct Date {
  std::int64_t year;
  int month;  // 0: January
  int day;    // from 1
};

bool is_leap(std::int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_of(std::int64_t year, int month) {
  constexpr std::uint8_t kDays[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDays[month] + (month == 1 && is_leap(year) ? 1 : 0);
}

// Year by year from 1970: asked once a trace.
Date date_of(std::int64_t days) {
  const auto length = [](std::int64_t year) { return is_leap(year) ? 366 : 365; };
  std::int64_t year = 1970;
  while (days < 0) days += length(--year);
  for (; days >= length(year); ++year) days -= length(year);
  int month = 0;
  for (; days >= days_of(year, month); ++month) days -= days_of(year, month);
  return {year, month, static_cast<int>(days) + 1};
}

}  // namespace

std::string_view utc_date(std::int64_t epoch_seconds, char (&room)[kDateRoom]) {
  std::int64_t days = epoch_seconds / kDaySeconds;
  if (epoch_seconds % kDaySeconds < 0) --days;
  const auto second = static_cast<int>(epoch_seconds - days * kDaySeconds);
  const auto weekday = static_cast<int>(((days + 4) % 7 + 7) % 7);  // 1970-01-01 was a Thursday
  const Date date = date_of(days);
  const int size =
      std::snprintf(room, sizeof room, "%.3s %.3s %2d %02d:%02d:%02d %lld", &"SunMonTueWedThuFriSat"[3 * weekday],
                    &"JanFebMarAprMayJunJulAugSepOctNovDec"[3 * date.month], date.day, second / 3600, second / 60 % 60,
                    second % 60, static_cast<long long>(date.year));
  return {room, size > 0 ? static_cast<std::size_t>(size) : 0};
}

}  // namespace dft::session
