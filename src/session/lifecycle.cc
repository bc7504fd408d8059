// SPDX-License-Identifier: MIT
#include "session/lifecycle.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/log.h"
#include "base/raw_io.h"
#include "record/emit.h"
#include "record/entry.h"
#include "record/recorder.h"
#include "session/identity.h"
#include "session/session_state.h"
#include "sources/io/io_source.h"

namespace dft::session {

namespace raw = base::raw;
using record::recorder;

namespace {

bool hooks_installed = false;
std::uint64_t mask_before_fork = 0;

// The locks are held across the fork so that the child copies them, and what they guard, at rest. Signals are blocked,
// or a handler of the forking thread would meet the locks.
void before_fork() {
  const std::uint64_t mask = raw::block_signals();
  state.lock.lock();
  mask_before_fork = mask;
  recorder.lock_for_fork();
}

void after_fork_in_parent() {
  recorder.unlock_after_fork();
  const std::uint64_t mask = mask_before_fork;
  state.lock.unlock();
  raw::restore_signals(mask);
}

void after_fork_in_child() {
  state.lock.reset_after_fork();
  become_forked_child();
  raw::restore_signals(mask_before_fork);
}

bool starts_with(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

}  // namespace

bool install_lifecycle_hooks() {
  if (hooks_installed) return true;
  if (pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0) return false;
  at_quick_exit(finish_process);
  hooks_installed = true;
  return true;
}

}  // namespace dft::session

using dft::session::state;

void dftracer_preload_start(void) {
  try {
    dft::session::note_preload();
  } catch (...) {
    dft::base::LogLine() << "cannot read the configuration: out of memory: this process is not traced";
  }
}

void dftracer_before_exit(void) { dft::session::finish_process(); }

int dftracer_before_exec(const char* path) {
  // An exec that cannot work must not end the trace.
  if (path != nullptr && dft::base::raw::call(SYS_faccessat, AT_FDCWD, reinterpret_cast<long>(path), X_OK) != 0)
    return 0;
  return dft::session::finish_for_exec() ? 1 : 0;
}

void dftracer_exec_failed(int ended) { dft::session::resume_after_exec(ended != 0); }

int dftracer_child_log_file(char* const* environment, char* out, unsigned long size) {
  if (environment == nullptr || state.start_directory[0] == '\0') return 0;
  const char* prefix = "./trace";
  bool enabled = false;
  for (char* const* entry = environment; *entry != nullptr; ++entry) {
    if (dft::session::starts_with(*entry, "DFTRACER_ENABLE=") ||
        dft::session::starts_with(*entry, "DFTRACER_CONFIGURATION=")) {
      enabled = true;
    }
    if (dft::session::starts_with(*entry, "DFTRACER_LOG_FILE=")) prefix = *entry + strlen("DFTRACER_LOG_FILE=");
  }
  if (!enabled || prefix[0] == '/' || prefix[0] == '\0') return 0;
  if (strncmp(prefix, "./", 2) == 0) prefix += 2;
  const int length = snprintf(out, size, "DFTRACER_LOG_FILE=%s/%s", state.start_directory, prefix);
  return length > 0 && static_cast<unsigned long>(length) < size ? 1 : 0;
}

int dftracer_traced_fork(int (*real)(void)) {
  const dft::base::Ticks begin = dft::base::clock_now();
  const int result = real();
  if (result <= 0 || !dft::record::recording()) return result;
  dft::record::ArgList<64> args;
  args.add_int64("ret", result);
  const dft::model::SiteId site = dft::record::site_id("fork", "POSIX", dft::model::Layer::kLibcIo);
  dft::record::emit_event(site, begin, dft::base::clock_now(), args);
  return result;
}

void dftracer_before_vfork(void) {
  dft::io::pause_io();
  dft::record::suspend_thread();
}
void dftracer_after_vfork(void) {
  dft::record::resume_thread();
  dft::io::resume_io();
}
void dftracer_before_dlopen(void) { state.libraries_opened.fetch_add(1, std::memory_order_relaxed); }

int dftracer_traced_sigaction(int (*real)(int, const struct sigaction*, struct sigaction*), int signal,
                              const struct sigaction* wanted, struct sigaction* old) {
  return dft::session::traced_sigaction(real, signal, wanted, old);
}
