// SPDX-License-Identifier: MIT
// Purpose: binds the wrappers of I/O and of the process's life at run time, for programs that are not preloaded.
// Threads: any. Never with the session's lock held: the dynamic linker is called, and a constructor inside another
//          thread's dlopen, which holds the linker's lock, may wait for ours.
// Invariant: bound once, for the life of the process and of its forked children; while nothing is recorded the wrappers
//            pass on. So a library that was bound may keep what it read from its slots.
#pragma once

#include "config/config.h"

namespace dft::session {

// Leads the calls of all loaded objects to the wrappers that `config` wants, unless the preload library does so
// already.
bool bind_calls(const config::Options& config);
bool calls_are_bound();  // by either
// What was loaded since the last time is bound.
void bind_new_libraries();
// The same without a call of the dynamic linker: what is still being loaded has to wait. For the drain's thread.
void bind_complete_libraries();
// Calls `look`, which may read the list of loaded objects, unless a fork is under way. For the drain's thread.
void look_at_objects(void (*look)());
// A dlopen with these flags begins. A library that looks at itself first (RTLD_DEEPBIND) does not find the preload
// library's names, so it is bound behind that, too.
void before_library(const config::Options& config, int flags);
void bindings_before_fork();
void bindings_after_fork();  // in the parent
void bindings_in_child();    // on its only thread

}  // namespace dft::session
