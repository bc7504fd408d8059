// SPDX-License-Identifier: MIT
// Purpose: whether the preload library stands in front of libc in this process: then its exported names lead to the
//          wrappers, and only a look-up from its place finds what is behind them.
// Threads: any; settled when the process is loaded.
#pragma once

extern "C" __attribute__((weak)) void* dftracer_next_symbol(const char* name);

namespace dft::intercept {
inline bool preload_library_is_loaded() { return &dftracer_next_symbol != nullptr; }
}  // namespace dft::intercept
