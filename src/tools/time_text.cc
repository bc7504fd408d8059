// SPDX-License-Identifier: MIT
#include "tools/time_text.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace dft::tools {

std::optional<TimePoint> parse_time_point(std::string_view text) {
  TimePoint point;
  const auto whole = std::from_chars(text.data(), text.data() + text.size(), point.unit);
  if (whole.ec == std::errc() && whole.ptr == text.data() + text.size()) return point;
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (end == copy.c_str() || !(value >= 0)) return std::nullopt;
  static constexpr struct {
    std::string_view unit;
    double ns;
  } kUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
  for (const auto& row : kUnits) {
    if (row.unit != end) continue;
    const double ns = value * row.ns;
    if (!(ns < 1.8e19)) return std::nullopt;
    point.relative = true;
    point.ns = static_cast<std::uint64_t>(ns + 0.5);
    return point;
  }
  return std::nullopt;
}

namespace {
std::string format(const char* pattern, double value, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value, unit);
  return text;
}
}  // namespace

std::string human_time(double ns) {
  if (ns < 1e3) return format("%.0f %s", ns, "ns");
  if (ns < 1e6) return format("%.2f %s", ns / 1e3, "us");
  if (ns < 1e9) return format("%.2f %s", ns / 1e6, "ms");
  if (ns < 120e9) return format("%.2f %s", ns / 1e9, "s");
  return format("%.1f %s", ns / 60e9, "min");
}

std::string human_bytes(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 5) {
    bytes /= 1024;
    ++unit;
  }
  return format(unit == 0 ? "%.0f %s" : "%.1f %s", bytes, kUnits[unit]);
}

std::string human_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string wall_time(std::uint64_t epoch_ns) {
  const auto seconds = static_cast<std::time_t>(epoch_ns / 1'000'000'000);
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return std::to_string(epoch_ns) + " ns";
  char date[48], text[80];
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &parts);
  std::snprintf(text, sizeof text, "%s.%06u UTC", date, static_cast<unsigned>(epoch_ns % 1'000'000'000 / 1000));
  return text;
}

}  // namespace dft::tools
