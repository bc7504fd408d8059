// SPDX-License-Identifier: MIT
// Purpose: what happens to recording at each turn of a process's life. One table:
//
// clang-format off
//   moment                     what happens
//   -------------------------  ------------------------------------------------------------------------------------
//   load                       nothing; two variables are read (preloaded and on: the configuration, too)
//   init call, first event     start-up records and `start`; the init call of a program that is not preloaded binds
//   thread start               nothing
//   thread exit                its chunks go to the drain
//   fork, parent               (bound) an event
//   fork, child                forgets all but names; its own file (suffix fork) at its first event; never calls a
//                              GPU's library that its parent used
//   vfork child                nothing: it shares the parent's memory and is recognised by its pid
//   exec (bound)               file ended with `end` of the old image; starts again if exec fails
//   posix_spawn (bound)        the child gets an absolute DFTRACER_LOG_FILE
//   _exit, _Exit (bound),      the GPU's last records first, then:
//   quick_exit, exit, return
//   from main, destructor      file ended with `end`
//   dlopen (bound)             counted for `end`; what it loads is bound before its functions are looked up; when it
//                              names CUDA's driver, GPU recording is on before it returns (session/gpu.h)
//   fatal signal               DFTRACER_BIND_SIGNALS=1: what is complete on the GPU is taken, file ended when the
//                              signal kills; else as SIGKILL
//   SIGKILL                    up to one flush interval is lost; nothing with DFTRACER_CRASH_SAFE=1 (dftracer recover)
//
//   bound: by the preload library, or by an init call (intercept/process_functions.h)
// clang-format on
//
// Threads: the hooks run on the thread that does the thing, with signals blocked where they hold locks.
#pragma once

#include "intercept/process_hooks.h"

namespace dft::session {
extern const intercept::ProcessHooks lifecycle_hooks;
}

extern "C" {
// The preload library is loaded; called by it alone, from its constructor.
__attribute__((visibility("default"))) void dftracer_preload_start(void);
}
