// SPDX-License-Identifier: MIT
// Start of a preloaded process, and the names of the functions of its life as jumps to core's table.
#include "intercept/process_functions.h"
#include "preload/io_name.h"

extern "C" void dftracer_preload_start(void);

namespace {
__attribute__((constructor)) void on_load() { dftracer_preload_start(); }
}  // namespace

// The offset of the wrapper in its row: bindings.h.
#define DFT_PROCESS_NAME(row, name) DFT_IO_NAME(#name, "dftracer_process_bindings", "16+40*" #row)
DFT_PROCESS_FUNCTIONS(DFT_PROCESS_NAME)
DFT_PROCESS_FUNCTIONS_IN_ASSEMBLY(DFT_PROCESS_NAME)
