// SPDX-License-Identifier: MIT
// Purpose: the args of each kind of activity. One inlined piece of activity_writer.cc, so that the place in the record
//          stays in a register.
// Threads: plain functions.
#pragma once

#include "sources/gpu/activity.h"
#include "sources/gpu/activity_args.h"
#include "sources/gpu/launch.h"

namespace dft::gpu {

inline void add_kernel_args(const Activity& activity, model::StringId symbol, ActivityArgs& args) {
  const KernelDetail& kernel = activity.kernel;
  args.add_signed(Key::kGridId, kernel.grid_id);
  args.add_signed(Key::kGridX, kernel.grid[0]);
  args.add_signed(Key::kGridY, kernel.grid[1]);
  args.add_signed(Key::kGridZ, kernel.grid[2]);
  args.add_signed(Key::kBlockX, kernel.block[0]);
  args.add_signed(Key::kBlockY, kernel.block[1]);
  args.add_signed(Key::kBlockZ, kernel.block[2]);
  args.add_signed(Key::kStaticSharedMemory, kernel.static_shared_memory);
  args.add_signed(Key::kDynamicSharedMemory, kernel.dynamic_shared_memory);
  args.add(Key::kRegistersPerThread, kernel.registers_per_thread);
  args.add(Key::kLocalMemoryPerThread, kernel.local_memory_per_thread);
  if ((kernel.cluster[0] | kernel.cluster[1] | kernel.cluster[2]) != 0) {
    args.add(Key::kClusterX, kernel.cluster[0]);
    args.add(Key::kClusterY, kernel.cluster[1]);
    args.add(Key::kClusterZ, kernel.cluster[2]);
  }
  if (symbol != 0) args.add(Key::kSymbolHash, symbol);
}

inline void add_copy_args(const Activity& activity, ActivityArgs& args) {
  const CopyDetail& copy = activity.copy;
  args.add(Key::kBytes, copy.bytes);
  if (activity.kind == ActivityKind::kMemset) {
    args.add(Key::kValue, copy.value);
  } else {
    args.add(Key::kCopyKind, copy.copy_kind);
    if (activity.kind == ActivityKind::kMemcpy) {
      args.add(Key::kSrcKind, copy.src_kind);
      args.add(Key::kDstKind, copy.dst_kind);
    } else {
      args.add_id(Key::kSrcDevice, copy.src_device);
      args.add_id(Key::kDstDevice, copy.dst_device);
      args.add_id(Key::kSrcContext, copy.src_context);
      args.add_id(Key::kDstContext, copy.dst_context);
    }
  }
  if (copy.is_async) args.add(Key::kAsync, 1);
}

inline void add_memory_args(const Activity& activity, ActivityArgs& args) {
  const MemoryDetail& memory = activity.memory;
  args.add(Key::kPid, memory.pid);
  if (!memory.is_pool) args.add(Key::kBytes, memory.bytes);
  args.add(Key::kAddress, memory.address);
  if (!memory.is_pool) args.add(Key::kMemoryKind, memory.memory_kind);
  if (memory.pool_address != 0) args.add(Key::kPoolAddress, memory.pool_address);
  if (memory.pool_size != 0) args.add(Key::kPoolSize, memory.pool_size);
  if (memory.is_async) args.add(Key::kAsync, 1);
  if (memory.source != nullptr) args.add_string(Key::kSource, memory.source);
}

inline void add_api_args(const Activity& activity, ActivityArgs& args) {
  args.add(Key::kCbid, activity.operation);
  args.add_id(Key::kCorrelation, activity.correlation);
  args.add(Key::kReturnValue, activity.api.return_value);
  if (activity.api.error != nullptr) args.add_string(Key::kError, activity.api.error);
  args.add(Key::kPid, activity.api.pid);
}

inline void add_unified_memory_args(const Activity& activity, ActivityArgs& args) {
  args.add_id(Key::kStream, activity.stream);
  args.add(Key::kPid, activity.unified.pid);
  args.add(Key::kValue, activity.unified.value);
  args.add(Key::kCounterKind, activity.unified.counter_kind);
  args.add(Key::kAddress, activity.unified.address);
  args.add_id(Key::kSrc, activity.unified.src);
  args.add_id(Key::kDst, activity.unified.dst);
}

inline void add_sync_args(const Activity& activity, ActivityArgs& args) {
  if (activity.sync.return_value != kNoId && activity.sync.return_value != 0) {
    args.add(Key::kReturnValue, activity.sync.return_value);  // behind correlation_id, as of API calls
  }
  args.add_id(Key::kCudaEvent, activity.sync.event);
}

// What all but calls and unified memory have in common, and what is their own.
[[gnu::always_inline]] inline void add_work_args(const Activity& activity, ActivityKind kind, std::uint32_t device,
                                                 model::StringId symbol, ActivityArgs& args) {
  if (kind != ActivityKind::kOverhead) args.add_id(Key::kDevice, device);
  args.add_id(Key::kContext, activity.context);
  args.add_id(Key::kStream, activity.stream);
  args.add_id(Key::kCorrelation, activity.correlation);
  switch (kind) {
    case ActivityKind::kKernel: add_kernel_args(activity, symbol, args); break;
    case ActivityKind::kMemcpy:
    case ActivityKind::kMemcpyP2p:
    case ActivityKind::kMemset: add_copy_args(activity, args); break;
    case ActivityKind::kMemory: add_memory_args(activity, args); break;
    case ActivityKind::kSync: add_sync_args(activity, args); break;
    case ActivityKind::kOverhead:
      args.add(Key::kObjectKind, activity.overhead.object_kind);
      args.add(Key::kOverheadKind, activity.overhead.overhead_kind);
      break;
    default: break;
  }
  args.add_id(Key::kGraph, activity.graph);
  if (activity.graph_node != 0) args.add(Key::kGraphNode, activity.graph_node);
}

// `kind`: the activity's, a constant where it is known.
[[gnu::always_inline]] inline ActivityArgs args_of(char* at, const Activity& activity, ActivityKind kind,
                                                   std::uint32_t device, model::StringId symbol) {
  ActivityArgs args(at);
  if (is_api(kind)) {
    add_api_args(activity, args);
  } else if (kind == ActivityKind::kUnifiedMemory) {
    add_unified_memory_args(activity, args);
  } else {
    add_work_args(activity, kind, device, symbol, args);
  }
  return args;
}

}  // namespace dft::gpu
