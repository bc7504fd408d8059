// SPDX-License-Identifier: MIT
// Purpose: what the wrappers of the functions of a process's life call: the session's answers to fork, exec and exit.
// Threads: any, at any time; the hooks say for themselves.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>

namespace dft::intercept {

using SigactionCall = int(int, const struct sigaction*, struct sigaction*);
using SignalHandler = void (*)(int);
using SignalCall = SignalHandler(int, SignalHandler);

struct ProcessHooks {
  void (*before_exit)();
  // 1 when recording was ended for the exec; to be handed to exec_failed. `path`: null if not known.
  int (*before_exec)(const char* path);
  void (*exec_failed)(int ended);
  // The size of `DFTRACER_LOG_FILE=<absolute prefix>` with its NUL, 0 when a child with this environment needs none; it
  // is written to `out` when it fits. Works in a vfork child (no malloc, no shared state).
  std::size_t (*child_log_file)(char* const* environment, char* out, std::size_t size);
  // The same for `DFTRACER_DATA_DIR=<folders>`, when an init call named some.
  std::size_t (*child_data_dirs)(char* const* environment, char* out, std::size_t size);
  // Calls `real` and records the fork in the parent (LIBC_IO, POSIX, arg ret = the child's pid).
  pid_t (*fork)(pid_t (*real)());
  // Around a vfork of this thread: between them its events are not recorded (they would be the child's, in shared
  // memory).
  void (*before_vfork)();
  void (*after_vfork)();
  // A library is about to be loaded, a function is about to be looked up: what was loaded before is bound.
  // `caller`: an address inside the calling function.
  void (*before_dlopen)(const char* file, int flags, const void* caller);
  void (*before_dlsym)(const void* caller);
  // On behalf of the application (DFTRACER_BIND_SIGNALS=1): the tracer's own handlers stay out of sight.
  int (*sigaction)(SigactionCall* real, int signal, const struct sigaction* wanted, struct sigaction* old);
  SignalHandler (*signal)(SignalCall* real, int signal, SignalHandler handler);
};

}  // namespace dft::intercept

// Null while nothing can be recorded in this process: then every wrapper is one load and a jump. Read by assembly, too.
extern "C" __attribute__((visibility("hidden"))) std::atomic<const dft::intercept::ProcessHooks*> dft_process_hooks;

namespace dft::intercept {
inline const ProcessHooks* process_hooks() { return dft_process_hooks.load(std::memory_order_acquire); }
}  // namespace dft::intercept
