// SPDX-License-Identifier: MIT
// Purpose: what happens to recording at each turn of a process's life. One table:
//
// clang-format off
//   moment                     what happens
//   -------------------------  ------------------------------------------------------------------------------------
//   load                       nothing; two variables are read (preloaded and on: the configuration, too)
//   init call, first event     start-up records and `start`
//   thread start               nothing
//   thread exit                its chunks go to the drain
//   fork, parent               nothing
//   fork, child                forgets all but names; its own file (suffix fork) at its first event
//   vfork child                nothing: it shares the parent's memory and is recognised by its pid
//   exec (preloaded)           file ended with `end` of the old image; starts again if exec fails
//   posix_spawn (preloaded)    the child gets an absolute DFTRACER_LOG_FILE
//   _exit, _Exit (preloaded),
//   quick_exit, exit, return
//   from main, destructor      file ended with `end`
//   fatal signal               DFTRACER_BIND_SIGNALS=1: file ended when the signal kills; else as SIGKILL
//   SIGKILL                    up to one flush interval is lost; nothing with DFTRACER_CRASH_SAFE=1 (dftracer recover)
// clang-format on
//
// Threads: the hooks run on the thread that does the thing, with signals blocked where they hold locks.
#pragma once

// What the preload library calls; exported by the core for it alone.
extern "C" {
__attribute__((visibility("default"))) void dftracer_preload_start(void);
__attribute__((visibility("default"))) void dftracer_before_exit(void);
// 1 when recording was ended for the exec; to be handed to dftracer_exec_failed.
__attribute__((visibility("default"))) int dftracer_before_exec(const char* path);
__attribute__((visibility("default"))) void dftracer_exec_failed(int ended);
// Fills `out` with `DFTRACER_LOG_FILE=<absolute prefix>` for a child of this process when its environment needs one: 1.
// Works in a vfork child (no malloc, no shared state).
__attribute__((visibility("default"))) int dftracer_child_log_file(char* const* environment, char* out,
                                                                   unsigned long size);
// Calls `real` and records the fork in the parent (LIBC_IO, POSIX, arg ret = the child's pid).
__attribute__((visibility("default"))) int dftracer_traced_fork(int (*real)(void));
// Around a vfork of this thread: between them its events are not recorded (they would be the child's, in shared
// memory).
__attribute__((visibility("default"))) void dftracer_before_vfork(void);
__attribute__((visibility("default"))) void dftracer_after_vfork(void);
// A library is about to be loaded; counted for `end`.
__attribute__((visibility("default"))) void dftracer_before_dlopen(void);
// sigaction on behalf of the application (DFTRACER_BIND_SIGNALS=1): the tracer's own handlers stay out of sight.
struct sigaction;
__attribute__((visibility("default"))) int dftracer_traced_sigaction(int (*real)(int, const struct sigaction*,
                                                                                 struct sigaction*),
                                                                     int signal, const struct sigaction* wanted,
                                                                     struct sigaction* old);
// signal() likewise; `real` is libc's.
using dftracer_signal_handler = void (*)(int);
__attribute__((visibility("default"))) dftracer_signal_handler dftracer_traced_signal(
    dftracer_signal_handler (*real)(int, dftracer_signal_handler), int signal, dftracer_signal_handler handler);
}
