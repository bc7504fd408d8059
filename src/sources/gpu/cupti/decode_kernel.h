// SPDX-License-Identifier: MIT
// Purpose: records of kernels -> KernelLaunch values. Inline, as nearly half of all records are kernels.
// Threads: plain functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sources/gpu/activity.h"
#include "sources/gpu/cupti/layouts.h"
#include "sources/gpu/launch.h"

namespace dft::gpu::cupti {

// CUPTI writes 0 as the graph's id of work outside graphs.
inline std::uint32_t graph_of(std::uint64_t node, std::uint32_t graph) {
  return node != 0 && graph != 0 ? graph : kNoId;
}
inline void set_graph(Activity& out, std::uint64_t node, std::uint32_t graph) {
  out.graph_node = node;
  out.graph = graph_of(node, graph);
}

// CUPTI's record and our Activity have the words of a launch in one order.
inline const char* launch_words_of(Record record) {
  using namespace kernel;
  const auto same = [](std::size_t field, std::size_t own) constexpr {
    return field - kDevice.offset == own - offsetof(Activity, device);
  };
  static_assert(same(kContext.offset, offsetof(Activity, context)));
  static_assert(same(kStream.offset, offsetof(Activity, stream)));
  static_assert(same(kGridX.offset, offsetof(Activity, kernel.grid)));
  static_assert(same(kBlockX.offset, offsetof(Activity, kernel.block)));
  static_assert(same(kStaticShared.offset, offsetof(Activity, kernel.static_shared_memory)));
  static_assert(same(kDynamicShared.offset, offsetof(Activity, kernel.dynamic_shared_memory)));
  static_assert(same(kLocalPerThread.offset, offsetof(Activity, kernel.local_memory_per_thread)));
  return static_cast<const char*>(record.bytes()) + kDevice.offset;
}

// REQUIRES: a record of at least kernel::kLeastSize.
[[gnu::always_inline]] inline KernelLaunch decode_kernel(Record record, bool has_graph_id) {
  using namespace kernel;
  KernelLaunch launch;
  launch.words = launch_words_of(record);
  launch.begin = record.get(kStart);
  launch.end = record.get(kEnd);
  launch.correlation = record.get(kCorrelation);
  launch.graph_node = record.get(kGraphNode, std::uint64_t{0});
  launch.graph = graph_of(launch.graph_node, has_graph_id ? record.get(kGraph, 0u) : 0);
  launch.registers_per_thread = record.get(kRegisters);
  launch.cluster[0] = record.get(kClusterX, 0u);
  launch.cluster[1] = record.get(kClusterY, 0u);
  launch.cluster[2] = record.get(kClusterZ, 0u);
  launch.symbol = record.get(kName);
  launch.grid_id = record.get(kGridId);
  return launch;
}

}  // namespace dft::gpu::cupti
