// SPDX-License-Identifier: MIT
// Purpose: the numbers of a line whose text is mostly that of the line before: a count, a thread, the head of a time.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <cstring>

#include "encode/json_text.h"

namespace dft::encode {

// A number that goes up by one, kept as its digits.
class IdText {
 public:
  explicit IdText(std::uint64_t first) { set(first); }
  std::uint64_t value() const { return value_; }
  char* put(char* p) const {
    std::memcpy(p, text_, sizeof text_);
    return p + size_;
  }
  void advance() {
    ++value_;
    char& last = text_[size_ - 1];
    if (last != '9') {
      ++last;
    } else {
      set(value_);
    }
  }

 private:
  void set(std::uint64_t value) {
    char room[text::kMaxNumber + text::kSlack];
    value_ = value;
    size_ = static_cast<std::uint32_t>(text::put_uint(room, value) - room);
    std::memcpy(text_, room, sizeof text_);
  }
  std::uint64_t value_ = 0;
  std::uint32_t size_ = 0;
  char text_[20];
};

// Runs of records share their thread. Writes the tid and ,"ts": behind it.
class TidText {
 public:
  TidText() { set(0); }
  char* put(char* p, std::int32_t tid) {
    if (__builtin_expect(tid != tid_, 0)) set(tid);
    std::memcpy(p, text_, sizeof text_);
    return p + size_;
  }

 private:
  void set(std::int32_t tid) {
    char* p = text::put_literal(text::put_int(text_, tid), ",\"ts\":");
    tid_ = tid;
    size_ = static_cast<std::uint32_t>(p - text_);
  }
  std::int32_t tid_;
  std::uint32_t size_;
  char text_[24];
};

// Times of one trace have the same leading digits for minutes.
class TimeText {
 public:
  char* put(char* p, std::uint64_t time) {
    constexpr std::uint64_t kE8 = 100'000'000;
    const std::uint64_t high = time / kE8;
    if (high == 0) return text::put_uint(p, time);
    if (__builtin_expect(high != high_, 0)) {
      high_ = high;
      size_ = static_cast<std::uint32_t>(text::put_uint(text_, high) - text_);
    }
    std::memcpy(p, text_, 16);
    return text::put_eight(p + size_, static_cast<std::uint32_t>(time - high * kE8));
  }

 private:
  std::uint64_t high_ = 0;
  std::uint32_t size_ = 0;
  char text_[24] = {};  // a quotient of 64 bits by 10^8 has at most 12 digits
};

}  // namespace dft::encode
