// SPDX-License-Identifier: MIT
// Purpose: length of the union of intervals, so that work in parallel counts once, and the longest gap in it. Intervals
//          may come in any order as long as one is not more than kMost separate intervals older than the newest; what
//          is older counts only from the point up to which the union is settled.
// Threads: one owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace dft::tools {

class IntervalUnion {
 public:
  static constexpr std::size_t kMost = 4096;

  void add(std::uint64_t begin, std::uint64_t end) {
    begin = std::max(begin, settled_until_);
    if (begin >= end) return;
    auto at = open_.upper_bound(begin);
    if (at != open_.begin() && std::prev(at)->second >= begin) --at;
    while (at != open_.end() && at->first <= end) {
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      at = open_.erase(at);
    }
    open_.emplace_hint(at, begin, end);
    if (open_.size() > kMost) settle_oldest();
  }
  // No more intervals will come that are older than the newest: gives their memory back.
  void settle() {
    while (!open_.empty()) settle_oldest();
  }

  std::uint64_t length() const {
    std::uint64_t sum = settled_;
    for (const auto& [begin, end] : open_) sum += end - begin;
    return sum;
  }

  struct Gap {
    std::uint64_t begin = 0;
    std::uint64_t length = 0;
  };
  Gap longest_gap() const {
    Gap longest = longest_;
    std::uint64_t until = settled_until_;
    for (const auto& [begin, end] : open_) {
      if (until != 0 && begin - until > longest.length) longest = {until, begin - until};
      until = end;
    }
    return longest;
  }

 private:
  void settle_oldest() {
    const auto oldest = open_.begin();
    const std::uint64_t gap = oldest->first - settled_until_;
    if (settled_until_ != 0 && gap > longest_.length) longest_ = {settled_until_, gap};
    settled_ += oldest->second - oldest->first;
    settled_until_ = oldest->second;
    open_.erase(oldest);
  }

  std::map<std::uint64_t, std::uint64_t> open_;
  std::uint64_t settled_ = 0;
  std::uint64_t settled_until_ = 0;
  Gap longest_;
};

}  // namespace dft::tools
