// SPDX-License-Identifier: MIT
// Purpose: NVTX ranges and marks of the application, without CUPTI's help: as the injection library that NVTX calls.
//          Works without a GPU; times are the trace clock's own, threads the callers'.
// Threads: any.
// See: docs/gpu.md. NVTX 3 is a header: each object of the application looks for the injection at its first call.
#pragma once

#include <cstdint>

namespace dft::gpu::nvtx {

// What NVTX hands over: from the table's number (1: callbacks) to the table.
using GetExportTable = const void* (*)(std::uint32_t id);

// For the exported InitializeInjectionNvtx2. 1: taken over, 0: refused (too old an NVTX).
int initialize(GetExportTable get_table);

// Whether ranges are recorded from now on (DFTRACER_CUDA_CATEGORIES). On at first.
void record_ranges(bool on);

// In a forked child: the lock may have been held by a thread that does not exist here.
void in_forked_child();

}  // namespace dft::gpu::nvtx
