// SPDX-License-Identifier: MIT
// Purpose: the one process-wide object of the session, shared by session.cc, lifecycle.cc and signals.cc.
// Threads: `lock` guards everything that is not atomic. Trivially destructible: it outlives static destruction.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

#include "base/futex_lock.h"
#include "config/config.h"
#include "intercept/process_hooks.h"
#include "session/session.h"

namespace dft::session {

enum class Phase : std::uint32_t {
  kOff,   // nothing will be recorded in this process
  kIdle,  // enabled, not started: an init call or the first event starts
  kRecording,
  kFinished,  // ended by the API; only an init call starts again
  kEnded,     // the process is ending
};

struct State {
  base::FutexLock lock;
  std::atomic<Phase> phase{Phase::kOff};
  std::int32_t pid = 0;       // of the process that recorded last
  bool child = false;         // forked from a process that was recording
  std::int32_t load_pid = 0;  // of the process that loaded the library
  bool preloaded = false;     // the preload library starts, ahead of the program's own init call
  Producer producer = Producer::kApi;
  const config::Loaded* config = nullptr;  // read once, kept for the life of the process and its children
  std::atomic<std::uint64_t> generation{0};
  std::atomic<std::uint64_t> libraries_opened{0};
  char start_directory[4096] = {};  // what a relative prefix of the configuration is relative to; "" if unknown
  char prefix[4096] = {};           // absolute, of the traces that this process or its parent has begun
  char prefix_of_call[4096] = {};   // the init call's own, absolute; "" when it took the configuration's
  char dirs_of_call[4096] = {};     // the init call's data directories; "" when it named none
  char configuration[4096] = {};    // the file's name as DFTRACER_CONFIGURATION had it; "" if none was read
};
extern State state;

// REQUIRES: lock held. Reads the configuration if that has not been done. Null: tracing is off.
const config::Options* configured_options();
bool constructors_have_run();  // those of this library

// Ends recording because the process ends (destructor, _exit, quick_exit, a fatal signal). Does nothing in a process
// that shares or copied this memory but is another one (vfork child, raw clone).
void finish_process();
// The same before exec; resume_after_exec() when exec failed.
bool finish_for_exec();
void resume_after_exec(bool was_recording);
// From a signal handler: async-signal-safe.
void flush_in_handler();
void finish_in_handler();

// Any thread, without waiting: the next call of the API does what only a thread of the application may.
void request_service();

// atfork and quick_exit. As early as can be: the application's own handlers, registered later, may have events, and run
// while no lock of ours is held for a fork, and before the trace is ended. Later, and in a forked child, their
// registration could also meet a lock of libc that nobody will release.
bool install_lifecycle_hooks();
// The preload library is loaded. Nothing starts before the first event: a process without one gets no thread and no
// file.
void note_preload();
void become_forked_child();
void bind_fatal_signals();
// SIGTERM only, and only where it kills: the trace is ended first, and the process dies of it as before.
void bind_termination();
// sigaction as the application must see it: the tracer's handlers do not show, and what was there before them does.
int traced_sigaction(int (*real)(int, const struct sigaction*, struct sigaction*), int signal,
                     const struct sigaction* wanted, struct sigaction* old);
// signal() likewise; `real` is libc's.
intercept::SignalHandler traced_signal(intercept::SignalCall* real, int signal, intercept::SignalHandler handler);

}  // namespace dft::session

// 0: off, the API's macros make no call. Declared in dftracer/dftracer.h.
extern "C" __attribute__((visibility("default"))) int dftracer_on;
