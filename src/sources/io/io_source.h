// SPDX-License-Identifier: MIT
// Purpose: the source of I/O events as the session sees it: on with a configuration, off, and what a fork changes.
// Threads: start and stop by one thread at a time, while others may be inside wrappers; the rest says for itself.
// Invariant: while off, a wrapper is one load and the real call.
#pragma once

#include <cstdint>
#include <string_view>

#include "sources/io/bindings.h"
#include "sources/io/path_filter.h"

namespace dft::io {

struct IoConfig {
  bool posix = true;  // events of cat POSIX
  bool stdio = true;  // events of cat STDIO
  bool args = true;   // DFTRACER_INC_METADATA
  bool trace_all = true;
  PathList includes;
  PathList excludes;
  std::string_view own_traces;  // prefix of this run's traces
};

// From here on calls are tracked and recorded. False when memory is refused: then nothing is.
bool start_io(const IoConfig& config);
void stop_io();
bool io_is_on();
bool posix_is_on();  // calls of cat POSIX become events

// In a forked child, before its first event.
void io_in_forked_child();

// The calling thread's calls are passed on unseen until it is resumed: a child of vfork shares its parent's tables.
// Pairs may nest.
void pause_io();
void resume_io();

// For the line at the end of a run that traced nothing.
struct IoSummary {
  bool any_traced;
  std::uint64_t filtered;  // opened files and first-met descriptors that the filter left out
};
IoSummary io_summary();

}  // namespace dft::io
