// SPDX-License-Identifier: MIT
// Purpose: what the user chose about GPU tracing, as plain data from the session.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/trace_format.h"
#include "sources/gpu/activity.h"

namespace dft::gpu {

enum class ApiMode : std::uint8_t { kQuiet, kAll, kNone };  // which API calls are recorded
enum class GraphMode : std::uint8_t { kGraph, kNode };      // one record a graph launch, or one a node
enum class KernelNames : std::uint8_t { kFull, kShort, kMangled };

struct Settings {
  std::uint32_t categories = (1u << kActivityKinds) - 1;  // bit per ActivityKind
  ApiMode api = ApiMode::kQuiet;
  GraphMode graph = GraphMode::kGraph;
  KernelNames kernel_names = KernelNames::kFull;
  std::size_t buffer_size = 1 << 20;
  std::size_t buffer_limit = 256u << 20;
  std::uint64_t flush_interval_ns = 1'000'000'000;
  std::uint64_t exit_timeout_ns = 10'000'000'000;
  model::TimeMetric time_metric = model::TimeMetric::kUs;
  std::int64_t wall_minus_monotonic_ns = 0;  // the trace clock's anchor, for `clock` records
  std::int32_t pid = 0;
  const char* vendor_library = nullptr;  // DFTRACER_CUPTI_PATH; outlives the source, as does CUDA_HOME
  const char* cuda_home = nullptr;
  const char* amd_device = "/dev/kfd";
  void (*thread_begins)() = nullptr;  // on the source's own thread
  // Another client, which is idle now, may hold the library's subscription: go on without it.
  bool beside_holder = false;

  bool wants(ActivityKind kind) const { return (categories >> static_cast<unsigned>(kind) & 1u) != 0; }
};

}  // namespace dft::gpu
