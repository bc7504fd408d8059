// SPDX-License-Identifier: MIT
// Purpose: names of the results that CUDA calls return. A table of our own: asking the driver would be a vendor call
// for
//          each record of a failing call.
// Threads: any.
#pragma once

#include <cstdint>

namespace dft::gpu::cupti {

// "cudaErrorMemoryAllocation" (runtime), "CUDA_ERROR_OUT_OF_MEMORY" (driver). Never null. REQUIRES: code != 0.
const char* error_name(bool runtime, std::uint32_t code);

}  // namespace dft::gpu::cupti
