// SPDX-License-Identifier: MIT
#include "tools/nesting.h"

namespace dft::tools {

Nesting::Result Nesting::add(std::uint64_t begin, std::uint64_t end) {
  Result result;
  if (end < last_end_) {
    result.in_order = false;
    return result;
  }
  last_end_ = end;
  while (!done_.empty() && done_.back().begin >= begin) {
    result.children += done_.back().sum;
    done_.pop_back();
  }
  if (!done_.empty() && done_.back().end > begin) {
    result.exact = !done_.back().merged;
    result.overlaps = !done_.back().merged;
  }
  if (done_.size() == kMost) merge_oldest();
  done_.push_back({begin, end, end - begin, false});
  return result;
}

void Nesting::merge_oldest() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i + 1 < kMost / 2; i += 2) {
    const Done& first = done_[i];
    const Done& second = done_[i + 1];
    done_[kept++] = {first.begin, second.end, first.sum + second.sum, true};
  }
  done_.erase(done_.begin() + static_cast<std::ptrdiff_t>(kept), done_.begin() + kMost / 2);
}

}  // namespace dft::tools
