// SPDX-License-Identifier: MIT
// Purpose: the functions of a process's life (its children, its next image, its end, its libraries, its signals): one
//          table of wrappers for both bindings. The preload library exports the names as jumps to the rows; the GOT
//          binder puts the wrappers into the slots of loaded objects.
// Threads: constant, valid before any constructor runs.
#pragma once

#include <cstddef>

#include "intercept/binding_table.h"

// Row and name. vfork and dlopen need code of each architecture.
#define DFT_PROCESS_FUNCTIONS(row)                                                                        \
  row(0, fork) row(1, _exit) row(2, _Exit) row(3, quick_exit) row(4, execl) row(5, execle) row(6, execlp) \
      row(7, execv) row(8, execve) row(9, execvp) row(10, execvpe) row(11, execveat) row(12, fexecve)     \
          row(13, posix_spawn) row(14, posix_spawnp) row(15, sigaction) row(16, signal)
#if defined(__x86_64__)
#define DFT_PROCESS_FUNCTIONS_IN_ASSEMBLY(row) row(17, vfork) row(18, dlopen)
#define DFT_LOOKUP_FUNCTIONS(row) row(19, dlsym) row(20, dlvsym)
#define DFT_PROCESS_ROWS 21
#else
#define DFT_PROCESS_FUNCTIONS_IN_ASSEMBLY(row)
#define DFT_LOOKUP_FUNCTIONS(row)
#define DFT_PROCESS_ROWS 17
#endif

extern "C" __attribute__((visibility("default")))
const dft::intercept::Binding dftracer_process_bindings[DFT_PROCESS_ROWS];

namespace dft::intercept {

// Rows that serve only while the tracer has handlers of its own.
inline bool is_signal_function(std::size_t row) { return row == 15 || row == 16; }
// Rows whose names the preload library does not export.
inline bool is_lookup_function(std::size_t row) { return row > 18; }

// Finds all real functions: their first call may be in a signal handler or in a vfork child, where the dynamic linker
// must not be called.
void find_real_process_functions();

}  // namespace dft::intercept
