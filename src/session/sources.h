// SPDX-License-Identifier: MIT
// Purpose: what the session does with the sources of events that are not the API.
// Threads: start and stop with the session's lock held; the rest says for itself.
#pragma once

#include <string_view>

#include "config/config.h"

namespace dft::session {

// I/O is recorded from here on as `config` says. `own_prefix`: absolute, of this run's traces. `data_dirs`: the init
// call's list, colon-separated, joined with the configured one; may be empty.
void start_sources(const config::Options& config, std::string_view own_prefix, std::string_view data_dirs);
void stop_sources();
void sources_in_child();  // in a forked child, before its first event
bool io_is_traced();      // at this moment
// One line when everything that was opened had been left out by the user's lists. After stop_sources().
void tell_filtered();

// While it lives, this thread's own calls of libc, or those of the application's allocator, are no events: they would
// come back to the session, whose lock is held.
class SourcesPaused {
 public:
  SourcesPaused();
  ~SourcesPaused();
  SourcesPaused(const SourcesPaused&) = delete;
  SourcesPaused& operator=(const SourcesPaused&) = delete;
};

}  // namespace dft::session
