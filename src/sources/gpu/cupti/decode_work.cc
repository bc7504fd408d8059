// SPDX-License-Identifier: MIT
// What runs on the device: kernels, copies, memsets, graphs.
#include <cstddef>
#include <cstring>

#include "sources/gpu/cupti/decode.h"

namespace dft::gpu::cupti {

namespace {

constexpr std::uint8_t kAsync = 1;  // flag of copies and memsets

// CUPTI writes 0 as the graph's id of work outside graphs.
void set_graph(Activity& out, std::uint64_t node, std::uint32_t graph) {
  out.graph_node = node;
  out.graph = node != 0 && graph != 0 ? graph : kNoId;
}

// Grid, block and shared memory stand in both in one order: two copies of 16 bytes, which are compared so as well.
void copy_sizes(Record record, KernelDetail& detail) {
  using namespace kernel;
  constexpr std::size_t kFirst = offsetof(KernelDetail, grid);
  constexpr std::size_t kSize = kDynamicShared.offset + sizeof(std::int32_t) - kGridX.offset;
  const auto same = [](std::size_t field, std::size_t own) constexpr { return field - kGridX.offset == own - kFirst; };
  static_assert(same(kBlockX.offset, offsetof(KernelDetail, block)));
  static_assert(same(kStaticShared.offset, offsetof(KernelDetail, static_shared_memory)));
  static_assert(same(kDynamicShared.offset, offsetof(KernelDetail, dynamic_shared_memory)));
  static_assert(kSize == 32);
  const auto* from = static_cast<const unsigned char*>(record.bytes()) + kGridX.offset;
  std::memcpy(reinterpret_cast<char*>(&detail) + kFirst, from, kSize);
}

}  // namespace

bool decode_kernel(Record record, bool has_graph_id, Activity& out) {
  using namespace kernel;
  if (record.size() < kLeastSize) return false;
  out.kind = ActivityKind::kKernel;
  out.begin = record.get(kStart);
  out.end = record.get(kEnd);
  out.device = record.get(kDevice);
  out.context = record.get(kContext);
  out.stream = record.get(kStream);
  out.correlation = record.get(kCorrelation);
  set_graph(out, record.get(kGraphNode, std::uint64_t{0}), has_graph_id ? record.get(kGraph, 0u) : 0);
  KernelDetail& detail = out.kernel;
  detail.symbol = record.get(kName);
  detail.grid_id = record.get(kGridId);
  copy_sizes(record, detail);
  detail.registers_per_thread = record.get(kRegisters);
  detail.local_memory_per_thread = record.get(kLocalPerThread);
  detail.cluster[0] = record.get(kClusterX, 0u);
  detail.cluster[1] = record.get(kClusterY, 0u);
  detail.cluster[2] = record.get(kClusterZ, 0u);
  return true;
}

bool decode_memcpy(Record record, Activity& out) {
  using namespace memcpy;
  if (record.size() < kLeastSize) return false;
  out.kind = ActivityKind::kMemcpy;
  out.operation = record.get(kCopyKind);
  out.begin = record.get(kStart);
  out.end = record.get(kEnd);
  out.device = record.get(kDevice);
  out.context = record.get(kContext);
  out.stream = record.get(kStream);
  out.correlation = record.get(kCorrelation);
  set_graph(out, record.get(kGraphNode, std::uint64_t{0}), record.get(kGraph, 0u));
  out.copy = {};
  out.copy.bytes = record.get(kBytes);
  out.copy.copy_kind = record.get(kCopyKind);
  out.copy.src_kind = record.get(kSourceKind);
  out.copy.dst_kind = record.get(kTargetKind);
  out.copy.is_async = (record.get(kFlags) & kAsync) != 0;
  return true;
}

bool decode_peer_copy(Record record, Activity& out) {
  using namespace peer_copy;
  if (record.size() < kLeastSize) return false;
  out.kind = ActivityKind::kMemcpyP2p;
  out.operation = record.get(kCopyKind);
  out.begin = record.get(kStart);
  out.end = record.get(kEnd);
  out.device = record.get(kDevice);
  out.context = record.get(kContext);
  out.stream = record.get(kStream);
  out.correlation = record.get(kCorrelation);
  set_graph(out, record.get(kGraphNode, std::uint64_t{0}), record.get(kGraph, 0u));
  out.copy = {};
  out.copy.bytes = record.get(kBytes);
  out.copy.copy_kind = record.get(kCopyKind);
  out.copy.src_kind = record.get(kSourceKind);
  out.copy.dst_kind = record.get(kTargetKind);
  out.copy.src_device = record.get(kSourceDevice);
  out.copy.src_context = record.get(kSourceContext);
  out.copy.dst_device = record.get(kTargetDevice);
  out.copy.dst_context = record.get(kTargetContext);
  out.copy.is_async = (record.get(kFlags) & kAsync) != 0;
  return true;
}

bool decode_memset(Record record, Activity& out) {
  using namespace memset;
  if (record.size() < kLeastSize) return false;
  out.kind = ActivityKind::kMemset;
  out.begin = record.get(kStart);
  out.end = record.get(kEnd);
  out.device = record.get(kDevice);
  out.context = record.get(kContext);
  out.stream = record.get(kStream);
  out.correlation = record.get(kCorrelation);
  set_graph(out, record.get(kGraphNode, std::uint64_t{0}), record.get(kGraph, 0u));
  out.copy = {};
  out.copy.bytes = record.get(kBytes);
  out.copy.value = record.get(kValue);
  out.copy.is_async = (record.get(kFlags) & kAsync) != 0;
  return true;
}

bool decode_graph(Record record, Activity& out) {
  using namespace graph_trace;
  if (record.size() < kLeastSize) return false;
  out.kind = ActivityKind::kGraph;
  out.begin = record.get(kStart);
  out.end = record.get(kEnd);
  out.device = record.get(kDevice);
  out.context = record.get(kContext);
  out.stream = record.get(kStream);
  out.correlation = record.get(kCorrelation);
  out.graph = record.get(kGraph);
  return true;
}

}  // namespace dft::gpu::cupti
