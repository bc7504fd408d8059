// SPDX-License-Identifier: MIT
// Purpose: times and sizes as people write and read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dft::tools {

// "1.5s", "200ms", "10us", "5ns", "2m", "1h": an offset from the trace's start. A plain number is an absolute `ts`.
struct TimePoint {
  bool relative = false;
  std::uint64_t ns = 0;    // relative
  std::uint64_t unit = 0;  // absolute, in the unit of the trace
};
std::optional<TimePoint> parse_time_point(std::string_view text);

std::string human_time(double ns);              // "1.234 ms"
std::string human_bytes(double bytes);          // "12.3 MiB"
std::string human_count(std::uint64_t count);   // "1,234,567"
std::string wall_time(std::uint64_t epoch_ns);  // "2026-11-29 15:41:39.123456 UTC"

}  // namespace dft::tools
