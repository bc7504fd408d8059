// SPDX-License-Identifier: MIT
// Purpose: C++ symbols of kernels in words. The C++ runtime's demangler refuses more than 1,024 characters, which
//          kernels of template libraries often have; libiberty's, where the build has it, takes them.
// Threads: any with kDemangleStack bytes of stack.
#pragma once

#include <cstddef>

namespace dft::gpu {

// Longer symbols are left alone: the demangler takes up to 170 bytes of stack a character.
inline constexpr std::size_t kLongestDemangled = 16 * 1024;
inline constexpr std::size_t kDemangleStack = 4 << 20;

// To be freed by the caller; null for what is no C++ symbol, or too long.
char* demangled(const char* symbol);
bool demangles_long_symbols();  // in this build

}  // namespace dft::gpu
