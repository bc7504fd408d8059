// SPDX-License-Identifier: MIT
// Purpose: a date as asctime writes it, in UTC. Not by libc: its time zone lock may be held for ever in a forked child,
//          and a first localtime_r would fix the zone before the application has set TZ.
// Threads: pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dft::session {

constexpr std::size_t kDateRoom = 32;
// "Sun Nov 29 13:40:17 2026", within `room`. REQUIRES: a year of at most 9 digits; takes a step for each year since
// 1970.
std::string_view utc_date(std::int64_t epoch_seconds, char (&room)[kDateRoom]);

}  // namespace dft::session
