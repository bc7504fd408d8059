// SPDX-License-Identifier: MIT
// Purpose: brings the call that asked for GPU work together with the work, by correlation id, while both stream by in
//          any order.
// Threads: one owner.
// Bound: the last kWindow correlation ids of a trace are remembered (10 MiB, taken with the first call or work). A pair
//        farther apart stays unmatched and is counted.
#pragma once

#include <cstdint>
#include <vector>

namespace dft::tools {

class LaunchJoin {
 public:
  static constexpr std::size_t kWays = 8;
  static constexpr std::size_t kSets = std::size_t{1} << 15;
  static constexpr std::size_t kWindow = kWays * kSets;

  struct Match {
    std::uint32_t device;  // as given to work()
    bool graph;
    std::uint64_t latency_ns;
  };

  // `process` from 1 on. Each adds to matches() what it completes; the caller empties them.
  void call(std::uint32_t process, std::uint32_t correlation, std::uint64_t begin_ns);
  // `graph_node`: one of many of a launch; the earliest counts, and only when the window has moved on or at finish().
  void work(std::uint32_t process, std::uint32_t correlation, std::uint64_t begin_ns, std::uint32_t device, bool graph,
            bool graph_node);
  void finish();

  std::vector<Match>& matches() { return matches_; }
  std::uint64_t work_alone() const { return work_alone_; }  // its call was not seen, or too far away
  std::uint64_t reversed() const { return reversed_; }      // began before its call: times that cannot be

 private:
  struct Pair {
    std::uint64_t key;  // 0: empty
    std::uint64_t call_ns;
    std::uint64_t work_ns;
    std::uint32_t device;
    std::uint32_t age;
    bool has_call, has_work, graph, waits, done;  // waits: for an earlier node
  };
  Pair& pair_of(std::uint32_t process, std::uint32_t correlation);
  void match(Pair& pair);
  void retire(Pair& pair);

  std::vector<Pair> pairs_;
  std::vector<Match> matches_;
  std::uint64_t work_alone_ = 0;
  std::uint64_t reversed_ = 0;
  std::uint32_t age_ = 0;
};

}  // namespace dft::tools
