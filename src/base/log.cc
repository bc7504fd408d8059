// SPDX-License-Identifier: MIT
#include "base/log.h"

#include <errno.h>
#include <string.h>

#include <atomic>

#include "base/error_output.h"
#include "base/futex_lock.h"

namespace dft::base {

namespace {
std::atomic<LogLevel> current_level{LogLevel::kError};
constexpr std::string_view kPrefix = "dftracer: ";

constexpr std::uint32_t kDeferredRoom = 16 * 1024;
__thread bool deferred_here = false;
FutexLock deferred_lock;
char deferred_text[kDeferredRoom];
std::atomic<std::uint32_t> deferred_size{0};

void defer(const char* text, std::uint32_t size) {
  deferred_lock.lock();
  const std::uint32_t used = deferred_size.load(std::memory_order_relaxed);
  if (used + size <= kDeferredRoom) {  // a full ring keeps the first lines: they name the cause
    memcpy(deferred_text + used, text, size);
    deferred_size.store(used + size, std::memory_order_release);
  }
  deferred_lock.unlock();
}
}  // namespace

void set_log_level(LogLevel level) { current_level.store(level, std::memory_order_relaxed); }
bool log_enabled(LogLevel level) { return level <= current_level.load(std::memory_order_relaxed); }

LogLine::LogLine(LogLevel level) : enabled_(log_enabled(level)) { *this << kPrefix; }

LogLine::~LogLine() {
  if (!enabled_) return;
  text_[size_++] = '\n';
  if (deferred_here) {
    defer(text_, size_);
  } else {
    write_error_output({text_, size_});
  }
}

void defer_log_of_this_thread() { deferred_here = true; }

void write_deferred_log() {
  if (deferred_size.load(std::memory_order_acquire) == 0 || deferred_here) return;
  const SignalGuard signals;
  if (!deferred_lock.try_lock()) return;
  write_error_output({deferred_text, deferred_size.load(std::memory_order_relaxed)});
  deferred_size.store(0, std::memory_order_relaxed);
  deferred_lock.unlock();
}

void forget_deferred_log() {
  deferred_lock.reset_after_fork();
  deferred_size.store(0, std::memory_order_relaxed);
  deferred_here = false;
}

LogLine& LogLine::operator<<(std::string_view text) {
  constexpr std::uint32_t kLimit = sizeof text_ - 4;  // room for "..." and the newline
  for (const char c : text) {
    if (size_ >= kLimit) {
      memcpy(text_ + kLimit - 3, "...", 3);
      return *this;
    }
    // One line stays one line, whatever a path or a value holds.
    text_[size_++] = c == '\n' || c == '\r' ? ' ' : c;
  }
  return *this;
}

LogLine& LogLine::operator<<(std::uint64_t value) {
  char digits[20];
  int count = 0;
  do {
    digits[sizeof digits - 1 - static_cast<unsigned>(count++)] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  return *this << std::string_view(digits + sizeof digits - count, static_cast<std::size_t>(count));
}

LogLine& LogLine::operator<<(std::int64_t value) {
  if (value >= 0) return *this << static_cast<std::uint64_t>(value);
  return *this << std::string_view("-") << (0 - static_cast<std::uint64_t>(value));
}

std::string_view error_text(int error) {
  const char* text = strerrordesc_np(error);
  return text != nullptr ? text : "unknown error";
}

}  // namespace dft::base
