// SPDX-License-Identifier: MIT
// Purpose: the numbers of a line whose text is mostly that of the line before: a count, a thread, the head of a time.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <cstring>

#include "encode/json_text.h"

namespace dft::encode {

// What lines have in common for long: {"id":N but for the last four digits, and ts but for the last eight. A line that
// is kept rendered has both in it, and is brought up to date when `version` moves.
class LineFrame {
 public:
  static constexpr std::uint32_t kSpanOfId = 10'000;
  static constexpr std::uint64_t kSpanOfTime = 100'000'000;
  static constexpr std::size_t kMostId = 32;    // bytes of {"id":N
  static constexpr std::size_t kMostTime = 32;  // bytes of ts
  explicit LineFrame(std::uint64_t first_id) { set_id(first_id); }

  // The id goes up by one from line to line.
  std::uint64_t id() const { return base_ + low_; }
  char* put_id(char* p) const {
    std::memcpy(p, id_text_, kMostId);
    const std::uint32_t low = low_;
    if (__builtin_expect(short_, 0)) return text::put_below_1e4(p + kKey, low);
    return text::put_four(p + id_size_, low);
  }
  void advance() {
    if (__builtin_expect(++low_ == kSpanOfId, 0)) set_id(id());
  }
  void set_id(std::uint64_t id) {
    low_ = static_cast<std::uint32_t>(id % kSpanOfId);
    const std::uint64_t base = id - low_;
    const bool is_short = base == 0;
    char* p = text::put_literal(id_text_, "{\"id\":");
    if (!is_short) p = text::put_uint(p, base / kSpanOfId);
    const auto size = static_cast<std::uint32_t>(p - id_text_);
    if (size != id_size_ || base / kSpanOfTime != base_ / kSpanOfTime) ++version_;
    base_ = base;
    short_ = is_short;
    id_size_ = size;
    std::memcpy(&before_last_, p - sizeof before_last_, sizeof before_last_);
  }

  // For rendered lines.
  std::uint32_t version() const { return version_; }
  std::uint32_t id_size() const { return id_size_ + 4; }
  // False when a line of now cannot be rendered beforehand: its id or time has so few digits that there would be zeros
  // in front, or its time is one of the last before 2^64.
  bool move_to(std::uint64_t time) {
    const std::uint64_t head = time / kSpanOfTime;
    if (short_ || head == 0 || head == ~std::uint64_t{0} / kSpanOfTime) return false;
    if (time - time_base_ < kSpanOfTime) return true;
    time_base_ = head * kSpanOfTime;
    time_size_ = static_cast<std::uint32_t>(text::put_uint(time_text_, head) - time_text_);
    ++version_;
    return true;
  }
  // All but the last digits. REQUIRES: move_to(). The id ends at `end`, all of its digits counted.
  void put_head_of_id(char* end) const { std::memcpy(end - id_size(), id_text_, id_size_); }
  char* put_head_of_time(char* p) const {
    std::memcpy(p, time_text_, sizeof time_text_);
    return p + time_size_;
  }
  // What changes from line to line, as values of their own for a run of lines (of one version).
  struct Digits {
    std::uint64_t time_base;
    std::uint32_t version;
    std::uint32_t id_size;
    std::uint32_t before_last;
    std::uint32_t low;
    bool covers(std::uint64_t time) const { return time - time_base < kSpanOfTime; }
    // The last digits, at the end of the id of the line that begins at `line`, and of a time that is covered.
    void put_id(char* line) const {
      const std::uint64_t eight = before_last | std::uint64_t{text::four_digits(low)} << 32;
      std::memcpy(line + id_size - sizeof eight, &eight, sizeof eight);
    }
    void put_time(char* p, std::uint64_t time) const {
      text::put_eight(p, static_cast<std::uint32_t>(time - time_base));
    }
    bool advance() { return ++low != kSpanOfId; }  // false: there is no further line with these digits
  };
  Digits digits() const { return {time_base_, version_, id_size(), before_last_, low_}; }
  void advance_to(const Digits& digits) {
    low_ = digits.low;
    if (low_ == kSpanOfId) set_id(id());
  }

 private:
  static constexpr std::size_t kKey = 6;
  std::uint64_t base_ = 0;
  std::uint32_t low_ = 0;
  std::uint32_t id_size_ = 0;      // without the last four digits
  std::uint32_t before_last_ = 0;  // the four bytes before them
  std::uint32_t version_ = 0;
  std::uint64_t time_base_ = 0;
  std::uint32_t time_size_ = 0;
  bool short_ = true;  // an id below 10^4: no zeros stand in front
  char id_text_[kKey + text::kMaxNumber + text::kSlack];
  char time_text_[24] = {};  // a quotient of 64 bits by 10^8 has at most 12 digits
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
