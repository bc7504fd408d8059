// SPDX-License-Identifier: MIT
// Purpose: how many nodes an executable graph has, from what CUPTI tells while it is made: a launch of it is one record
//          then, however much it does.
// Threads: count_graph_nodes in CUPTI's callbacks, on any thread; drain by the decoding thread.
// Invariants:
//   1. No lock and no allocation; nothing happens at a launch.
//   2. A number that is not sure is not told: of graphs made before the start, and of those with more graphs inside
//      than a thread follows at a time.
// An instantiation is, on one thread: the graph inside the executable one is created, nodes are cloned into it, child
// graphs are created and filled before their own nodes, and last the executable graph is there. It has the address and
// the id of the first of these (seen with CUPTI 12.0 and 13.0 on an H200); launches carry that id.
#pragma once

#include <atomic>
#include <cstdint>

#include "sources/gpu/cupti/functions.h"

namespace dft::gpu::cupti {

// As CUpti_GraphData since 11.7, which is the first release with records of graph launches.
struct GraphData {
  CUgraph graph;
  CUgraph original;
  CUgraphNode node;
  CUgraphNode original_node;
  std::int32_t node_type;
  CUgraphNode dependency;
  CUgraphExec exec;
};

// Callbacks of the resource domain, by number: old headers lack the names.
enum GraphCallback : std::uint32_t { kGraphCreated = 9, kGraphExecCreated = 18, kGraphNodeCloned = 20 };
inline constexpr GraphCallback kGraphCallbacks[] = {kGraphCreated, kGraphExecCreated, kGraphNodeCloned};

struct GraphSize {
  std::uint32_t graph;  // as the records of its launches have it
  std::uint32_t nodes;  // those of its child graphs in place of the child graphs
};

// What was counted on the way to the decoding thread.
class GraphSizes {
 public:
  static constexpr std::uint32_t kSlots = 4096;
  // False when there is no room.
  bool put(GraphSize size) {
    const std::uint64_t packed = std::uint64_t{size.graph} << 32 | size.nodes;
    std::uint64_t empty = 0;
    const std::uint32_t slot = next_.fetch_add(1, std::memory_order_relaxed) % kSlots;
    return packed != 0 && slots_[slot].compare_exchange_strong(empty, packed, std::memory_order_release);
  }
  template <typename Use>
  void drain(Use use) {
    const std::uint32_t now = next_.load(std::memory_order_relaxed);
    if (now == drained_ && !late_) return;
    late_ = now != drained_;  // a slot that was taken may be filled only now: one more look
    drained_ = now;
    for (std::atomic<std::uint64_t>& slot : slots_) {
      const std::uint64_t packed = slot.exchange(0, std::memory_order_acquire);
      if (packed != 0) use(GraphSize{static_cast<std::uint32_t>(packed >> 32), static_cast<std::uint32_t>(packed)});
    }
  }

 private:
  std::atomic<std::uint64_t> slots_[kSlots] = {};
  std::atomic<std::uint32_t> next_{0};
  std::uint32_t drained_ = 0;
  bool late_ = false;
};

void count_graph_nodes(std::uint32_t callback, const GraphData& data, const Functions& functions, GraphSizes& sizes);

}  // namespace dft::gpu::cupti
