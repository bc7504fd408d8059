// SPDX-License-Identifier: MIT
// Purpose: which part of an event's time its direct children took, from events in the order of their ends, with bounded
//          memory per thread.
// Threads: one owner per instance; one instance per (pid, tid).
// Exactness: exact while at most kMost finished events wait for a parent. Beyond that the oldest of them are merged in
//          pairs; only a parent that begins inside a merged pair then gets an estimate, and says so.
#pragma once

#include <cstdint>
#include <vector>

namespace dft::tools {

class Nesting {
 public:
  static constexpr std::size_t kMost = 8192;

  struct Result {
    std::uint64_t children = 0;  // sum of the durations of direct children
    bool overlaps = false;       // an earlier event reaches into this one without being inside
    bool exact = true;
    bool in_order = true;  // false: it ended before an event that came earlier; children is 0 then
  };
  Result add(std::uint64_t begin, std::uint64_t end);

 private:
  struct Done {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t sum;
    bool merged;
  };
  void merge_oldest();
  std::vector<Done> done_;
  std::uint64_t last_end_ = 0;
};

}  // namespace dft::tools
