// SPDX-License-Identifier: MIT
// Purpose: API calls and kernels as they stand in the vendor's record. Nearly all records are of these. No Activity is
//          made of one whose template is known already (arg_templates.h).
// Invariant: texts and words point into the vendor's record and live only during the call that hands the value over.
#pragma once

#include <cstdint>
#include <cstring>

#include "sources/gpu/activity.h"

namespace dft::gpu {

struct ApiCall {
  ActivityKind kind;  // kRuntimeApi or kDriverApi
  std::uint16_t operation;
  std::uint32_t correlation;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint32_t pid, tid, return_value;
};

struct KernelLaunch {
  const char* words;  // Activity::launch_words()
  std::uint32_t correlation;
  std::uint32_t graph;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t graph_node;
  std::uint32_t registers_per_thread;
  std::uint32_t cluster[3];
  const char* symbol;
  std::int64_t grid_id;
};

inline bool is_api(ActivityKind kind) { return kind == ActivityKind::kRuntimeApi || kind == ActivityKind::kDriverApi; }

// REQUIRES: is_api(activity.kind).
inline ApiCall call_of(const Activity& activity) {
  const ApiDetail& api = activity.api;
  return {activity.kind, activity.operation, activity.correlation, activity.begin, activity.end, api.pid,
          api.tid,       api.return_value};
}
// REQUIRES: a kernel.
inline KernelLaunch launch_of(const Activity& activity) {
  const KernelDetail& kernel = activity.kernel;
  return {activity.launch_words(),
          activity.correlation,
          activity.graph,
          activity.begin,
          activity.end,
          activity.graph_node,
          kernel.registers_per_thread,
          {kernel.cluster[0], kernel.cluster[1], kernel.cluster[2]},
          kernel.symbol,
          kernel.grid_id};
}
inline Activity activity_of(const ApiCall& call, const char* error) {
  Activity activity;
  activity.kind = call.kind;
  activity.operation = call.operation;
  activity.correlation = call.correlation;
  activity.begin = call.begin;
  activity.end = call.end;
  activity.api = {call.pid, call.tid, call.return_value, error};
  return activity;
}
inline Activity activity_of(const KernelLaunch& launch) {
  Activity activity;
  activity.kind = ActivityKind::kKernel;
  activity.correlation = launch.correlation;
  activity.begin = launch.begin;
  activity.end = launch.end;
  activity.graph = launch.graph;
  activity.graph_node = launch.graph_node;
  std::memcpy(activity.launch_words(), launch.words, Activity::kLaunchWords * sizeof(std::uint32_t));
  KernelDetail& kernel = activity.kernel;
  kernel.registers_per_thread = launch.registers_per_thread;
  std::memcpy(kernel.cluster, launch.cluster, sizeof kernel.cluster);
  kernel.symbol = launch.symbol;
  kernel.grid_id = launch.grid_id;
  return activity;
}

}  // namespace dft::gpu
