// SPDX-License-Identifier: MIT
// Purpose: the tracer's only voice: whole lines on stderr that begin with "dftracer: ".
// Threads: any, also inside a signal handler; no malloc, errno kept; how a line gets out without harm: error_output.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace dft::base {

enum class LogLevel : std::uint8_t { kError = 0, kWarn = 1, kInfo = 2, kDebug = 3 };
void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);

// A line put together from pieces in a fixed buffer (2 KiB; longer text is cut and ends in "...").
class LogLine {
 public:
  explicit LogLine(LogLevel level = LogLevel::kError);
  ~LogLine();  // writes the line
  LogLine(const LogLine&) = delete;
  LogLine& operator=(const LogLine&) = delete;
  LogLine& operator<<(std::string_view text);
  LogLine& operator<<(const char* text) { return *this << std::string_view(text ? text : "(null)"); }
  LogLine& operator<<(std::int64_t value);
  LogLine& operator<<(std::uint64_t value);
  LogLine& operator<<(int value) { return *this << static_cast<std::int64_t>(value); }
  LogLine& operator<<(unsigned value) { return *this << static_cast<std::uint64_t>(value); }

 private:
  bool enabled_;
  std::uint32_t size_ = 0;
  char text_[2048];
};

// The tracer's own thread has no stderr (it closes every descriptor that it shares with the application): its lines
// wait in a small ring until a thread of the application passes by.
void defer_log_of_this_thread();
void write_deferred_log();
void forget_deferred_log();  // in a forked child: they are the parent's to say

// Text of an errno value without locale or malloc ("No space left on device").
std::string_view error_text(int error);

}  // namespace dft::base
