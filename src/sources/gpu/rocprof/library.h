// SPDX-License-Identifier: MIT
// Purpose: finds rocprofiler-sdk and opens it. It is never linked and never closed.
// Looked at, the first that can be used: the copy that calls rocprofiler_configure, or that the process has mapped
// otherwise; ROCM_PATH; the folder of the mapped libamdhip64; the loader's own places; /opt/rocm.
// Threads: the one that starts GPU tracing.
#pragma once

#include <cstdint>

#include "sources/gpu/rocprof/functions.h"

namespace dft::gpu::rocprof {

struct Library {
  void* handle = nullptr;
  Functions functions;
  std::uint32_t release = 0;  // release_number()
  Generation generation = Generation::k1;
  char path[1024] = {};
  bool has_long_callbacks() const { return release >= kFirstWithClientSize; }
};

// The library that the code at `caller` belongs to; another mapped copy when that is not rocprofiler-sdk.
bool library_of(const void* caller, Library* out);
bool find_mapped_library(Library* out);
struct Search {
  const char* file = nullptr;       // ROCPROFILER_REGISTER_LIBRARY; then no other is looked at
  const char* rocm_path = nullptr;  // ROCM_PATH
  const void* beside = nullptr;     // code of the library that asks for it
};
bool find_library(const Search& search, Library* out);
Generation generation_of(std::uint32_t release, bool has_memory_allocation);

// HIP, HSA, ROCTx or RCCL is in the process: each of them makes itself known to rocprofiler-sdk.
bool runtime_is_mapped();
// Whether `path` names one of them.
bool names_runtime(const char* path);
// 0.5 ends the process when it is asked for agents and this folder is not there, and without it there is no GPU:
// nothing is started.
inline constexpr const char* kTopology = "/sys/class/kfd/kfd/topology/nodes";
bool has_driver(const char* topology);

}  // namespace dft::gpu::rocprof
