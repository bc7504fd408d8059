// SPDX-License-Identifier: MIT
#include "session/utc_date.h"

#include <cstdio>

namespace dft::session {

namespace {

constexpr std::int64_t kDaySeconds = 86'400;
constexpr std::int64_t kDaysOf400Years = 146'097;
constexpr std::int64_t kDaysUntilEpoch = 719'468;  // from 0000-03-01

struct Date {
  std::int64_t year;
  int month;  // 0: January
  int day;    // from 1
};

// Years are counted from March, so that the leap day is the last of its year and months follow one line.
Date date_of(std::int64_t days_since_epoch) {
  const std::int64_t days = days_since_epoch + kDaysUntilEpoch;
  const std::int64_t era = (days >= 0 ? days : days - (kDaysOf400Years - 1)) / kDaysOf400Years;
  const std::int64_t day_of_era = days - era * kDaysOf400Years;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / (kDaysOf400Years - 1)) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const bool next_year = month_from_march >= 10;
  return {era * 400 + year_of_era + (next_year ? 1 : 0),
          static_cast<int>(next_year ? month_from_march - 10 : month_from_march + 2),
          static_cast<int>(day_of_year - (153 * month_from_march + 2) / 5 + 1)};
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
