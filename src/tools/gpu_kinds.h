// SPDX-License-Identifier: MIT
// Purpose: what an event of a GPU layer is about, from its category and name: one answer for CUDA and HIP.
// Threads: plain functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "read/event.h"

namespace dft::tools {

enum class GpuKind { kOther, kKernel, kCopy, kMemset, kGraph, kSync, kApi };

inline constexpr std::int64_t kDeviceMemory = 3;  // CUPTI's number of memory on the device itself

GpuKind gpu_kind_of(const read::Event& event);
// "MemcpyHtoD" and "MEMORY_COPY_HOST_TO_DEVICE" -> "HtoD".
std::string copy_direction(std::string_view name);
// "pageable", "pinned", "managed", or empty.
std::string_view host_memory(std::int64_t kind);

}  // namespace dft::tools
