// SPDX-License-Identifier: MIT
// What runs on the device, kernels apart: copies, memsets, graphs.
#include "sources/gpu/cupti/decode.h"
#include "sources/gpu/cupti/decode_kernel.h"

namespace dft::gpu::cupti {

namespace {

constexpr std::uint8_t kAsync = 1;  // flag of copies and memsets

}  // namespace

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
