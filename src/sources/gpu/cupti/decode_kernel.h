// SPDX-License-Identifier: MIT
// Purpose: records of kernels -> Activity values. Inline, as nearly half of all records are kernels.
// Threads: plain functions.
#pragma once

#include <cstddef>
#include <cstring>

#include "sources/gpu/activity.h"
#include "sources/gpu/cupti/layouts.h"

namespace dft::gpu::cupti {

// CUPTI writes 0 as the graph's id of work outside graphs.
inline void set_graph(Activity& out, std::uint64_t node, std::uint32_t graph) {
  out.graph_node = node;
  out.graph = node != 0 && graph != 0 ? graph : kNoId;
}

// The words of a launch stand in both in one order.
inline void copy_launch_words(Record record, Activity& out) {
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
  const auto* const from = static_cast<const unsigned char*>(record.bytes()) + kDevice.offset;
  for (unsigned at = 0; at < Activity::kLaunchWords * sizeof(std::uint32_t); at += 16) {
    std::memcpy(out.launch_words() + at, from + at, 16);
  }
}

// False for a record that is too short.
[[gnu::always_inline]] inline bool decode_kernel(Record record, bool has_graph_id, Activity& out) {
  using namespace kernel;
  if (record.size() < kLeastSize) return false;
  out.kind = ActivityKind::kKernel;
  out.begin = record.get(kStart);
  out.end = record.get(kEnd);
  out.correlation = record.get(kCorrelation);
  set_graph(out, record.get(kGraphNode, std::uint64_t{0}), has_graph_id ? record.get(kGraph, 0u) : 0);
  copy_launch_words(record, out);
  KernelDetail& detail = out.kernel;
  detail.symbol = record.get(kName);
  detail.grid_id = record.get(kGridId);
  detail.registers_per_thread = record.get(kRegisters);
  detail.cluster[0] = record.get(kClusterX, 0u);
  detail.cluster[1] = record.get(kClusterY, 0u);
  detail.cluster[2] = record.get(kClusterZ, 0u);
  return true;
}

}  // namespace dft::gpu::cupti
