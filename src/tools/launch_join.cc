// SPDX-License-Identifier: MIT
#include "tools/launch_join.h"

#include <algorithm>

namespace dft::tools {

// Correlation ids count on one by one, so neighbours lie in neighbouring sets and each set keeps its newest.
LaunchJoin::Pair& LaunchJoin::pair_of(std::uint32_t process, std::uint32_t correlation) {
  if (pairs_.empty()) pairs_.resize(kWindow);
  const std::uint64_t key = std::uint64_t{process} << 32 | correlation;
  Pair* const set = &pairs_[(correlation + process * 2'654'435'761u) % kSets * kWays];
  Pair* oldest = set;
  for (Pair* pair = set; pair != set + kWays; ++pair) {
    if (pair->key == key) return *pair;
    if (oldest->key == 0) continue;
    if (pair->key == 0 || age_ - pair->age > age_ - oldest->age) oldest = pair;
  }
  if (oldest->key != 0) retire(*oldest);
  *oldest = Pair{};
  oldest->key = key;
  oldest->age = ++age_;
  return *oldest;
}

void LaunchJoin::call(std::uint32_t process, std::uint32_t correlation, std::uint64_t begin_ns) {
  Pair& pair = pair_of(process, correlation);
  if (pair.done || pair.has_call)
    return;  // the runtime's call and the driver's may share an id: the first is the user's
  pair.has_call = true;
  pair.call_ns = begin_ns;
  if (pair.has_work && !pair.waits) match(pair);
}

void LaunchJoin::work(std::uint32_t process, std::uint32_t correlation, std::uint64_t begin_ns, std::uint32_t device,
                      bool graph, bool graph_node) {
  Pair& pair = pair_of(process, correlation);
  if (pair.done) return;  // one call, several kernels: the first counts
  if (!pair.has_work || begin_ns < pair.work_ns) {
    pair.work_ns = begin_ns;
    pair.device = device;
  }
  pair.has_work = true;
  pair.graph |= graph || graph_node;
  pair.waits |= graph_node;
  if (pair.has_call && !pair.waits) match(pair);
}

void LaunchJoin::match(Pair& pair) {
  pair.done = true;
  if (pair.work_ns < pair.call_ns) {
    ++reversed_;
    return;
  }
  matches_.push_back({pair.device, pair.graph, pair.work_ns - pair.call_ns});
}

void LaunchJoin::retire(Pair& pair) {
  if (pair.done || !pair.has_work) return;
  if (pair.has_call) {
    match(pair);
  } else {
    ++work_alone_;
  }
}

void LaunchJoin::finish() {
  for (Pair& pair : pairs_) {
    if (pair.key != 0) retire(pair);
  }
  pairs_.clear();
}

}  // namespace dft::tools
