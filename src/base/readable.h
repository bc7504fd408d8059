// SPDX-License-Identifier: MIT
// Purpose: looking at memory of the application that may not be there, without a signal: the kernel is asked.
// Threads: any; async-signal-safe, errno kept. Another thread may of course unmap what was just found readable.
#pragma once

#include <cstddef>

namespace dft::base {

bool readable(const void* address);

// `text`, or null when it cannot be read to its end or, of a longer one, for `most` bytes.
const char* readable_text(const char* text, std::size_t most);

}  // namespace dft::base
