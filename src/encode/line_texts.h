// SPDX-License-Identifier: MIT
// Purpose: the numbers of a line whose text is mostly that of the line before: a count, a thread, the head of a time.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <cstring>

#include "encode/json_text.h"

namespace dft::encode {

// {"id":N of a number that goes up by one, whose digits but the last four are kept.
class IdText {
 public:
  explicit IdText(std::uint64_t first) { set(first); }
  std::uint64_t value() const { return base_ + low_; }
  char* put(char* p) const {
    std::memcpy(p, text_, 32);
    const std::uint32_t low = low_;
    if (__builtin_expect(short_, 0)) return text::put_below_1e4(p + kKey, low);
    return text::put_four(p + size_, low);
  }
  void advance() {
    if (__builtin_expect(++low_ == 10000, 0)) set(value());
  }

  void set(std::uint64_t value) {
    low_ = static_cast<std::uint32_t>(value % 10000);
    base_ = value - low_;
    short_ = base_ == 0;
    char* p = text::put_literal(text_, "{\"id\":");
    if (!short_) p = text::put_uint(p, base_ / 10000);
    size_ = static_cast<std::uint32_t>(p - text_);
  }

 private:
  static constexpr std::size_t kKey = 6;
  std::uint64_t base_ = 0;
  std::uint32_t low_ = 0;
  std::uint32_t size_ = 0;
  bool short_ = true;  // below 10^4: no zeros stand in front
  char text_[kKey + text::kMaxNumber + text::kSlack];
};

// Few threads alternate: those of calls and the lanes of their work. Writes the tid and ,"ts": behind it.
class TidText {
 public:
  TidText() {
    for (Entry& entry : entries_) set(entry, 0);
  }
  char* put(char* p, std::int32_t tid) {
    Entry& entry = entries_[static_cast<std::uint32_t>(tid) % kEntries];
    if (__builtin_expect(tid != entry.tid, 0)) set(entry, tid);
    std::memcpy(p, entry.text, sizeof entry.text);
    return p + entry.size;
  }

 private:
  static constexpr std::uint32_t kEntries = 16;
  struct Entry {
    std::int32_t tid;
    std::uint32_t size;
    char text[24];
  };
  static void set(Entry& entry, std::int32_t tid) {
    char buffer[24 + text::kMaxNumber + text::kSlack] = {};
    char* const end = text::put_literal(text::put_int(buffer, tid), ",\"ts\":");
    entry.tid = tid;
    entry.size = static_cast<std::uint32_t>(end - buffer);
    std::memcpy(entry.text, buffer, sizeof entry.text);
  }
  Entry entries_[kEntries];
};

// Times of one trace have the same leading digits for minutes, and in a burst also the next four.
class TimeText {
 public:
  TimeText() { set(kSpan); }
  char* put(char* p, std::uint64_t time) {
    std::uint64_t low = time - start_;
    if (__builtin_expect(low >= kSpan, 0)) {
      const std::uint64_t head = time / kSpan;
      // There would be zeros in front, or a span that ends beyond 2^64.
      if (head < kSpan || head == ~std::uint64_t{0} / kSpan) return text::put_uint(p, time);
      set(head);
      low = time % kSpan;
    }
    std::memcpy(p, text_, 16);
    return text::put_four(p + size_, static_cast<std::uint32_t>(low));
  }

 private:
  static constexpr std::uint64_t kSpan = 10000;
  void set(std::uint64_t head) {
    const std::uint64_t high = head / kSpan;
    if (high != start_ / kSpan / kSpan) size_ = static_cast<std::uint32_t>(text::put_uint(text_, high) - text_) + 4;
    text::put_four(text_ + size_ - 4, static_cast<std::uint32_t>(head - high * kSpan));
    start_ = head * kSpan;
  }
  std::uint64_t start_ = 0;
  std::uint32_t size_ = 0;
  char text_[16 + text::kSlack] = {};  // a quotient of 64 bits by 10^4 has at most 16 digits
};

}  // namespace dft::encode
