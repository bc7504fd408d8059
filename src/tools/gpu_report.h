// SPDX-License-Identifier: MIT
// Purpose: how the reports show GpuRows: tables, a JSON member, CSV lines.
// Threads: plain functions.
#pragma once

#include <string>
#include <vector>

#include "tools/gpu_rows.h"
#include "tools/output.h"

namespace dft::tools {

// What strikes in the figures, and what the trace cannot tell.
std::vector<std::string> gpu_notes(const GpuRows& gpu);
// Nothing when there is nothing about GPUs. `top` kernels.
void print_gpu_text(const GpuRows& gpu, std::size_t top, Output& out);
// A member "gpu" of the open object.
void print_gpu_json(const GpuRows& gpu, std::size_t top, Output& out);
void print_gpu_csv(const GpuRows& gpu, std::size_t top, Output& out);

}  // namespace dft::tools
