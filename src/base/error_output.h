// SPDX-License-Identifier: MIT
// Purpose: lines for the stderr that the process was started with. The application must not notice who wrote them: they
//          never wait for a reader, raise no signal, and never land in a file that was given number 2 later on.
// Threads: any, also inside a signal handler and in forked children; raw system calls, no lock, errno kept.
#pragma once

#include <string_view>

namespace dft::base {

// What descriptor 2 is now is what lines may be written to from here on. Without this call: whatever number 2 is then.
void note_error_output();

// Whole lines. Those that cannot be written at once are dropped; a later one tells how many.
void write_error_output(std::string_view lines);

}  // namespace dft::base
