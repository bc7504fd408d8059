// SPDX-License-Identifier: MIT
// Purpose: figures that the forms of the GPU report share.
// Threads: plain functions.
#pragma once

#include <cstdint>
#include <string>

#include "tools/gpu_rows.h"

namespace dft::tools {

inline double us(std::uint64_t ns) { return static_cast<double>(ns) / 1e3; }
inline double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}
// Bytes per second of the summed time; 0 when that time is 0.
inline double bandwidth(const GpuTimed& copy) {
  return copy.total == 0 ? 0 : static_cast<double>(copy.bytes) / (static_cast<double>(copy.total) / 1e9);
}
inline std::string device_number(const GpuDevice& device) { return device.id < 0 ? "?" : std::to_string(device.id); }

}  // namespace dft::tools
