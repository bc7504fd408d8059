// SPDX-License-Identifier: MIT
#include "session/lifecycle.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>
#include <string_view>

#include "base/log.h"
#include "base/raw_io.h"
#include "intercept/process_functions.h"
#include "record/emit.h"
#include "record/entry.h"
#include "record/recorder.h"
#include "session/binding.h"
#include "session/gpu.h"
#include "session/identity.h"
#include "session/session_state.h"
#include "sources/io/io_source.h"

namespace dft::session {

namespace raw = base::raw;
using record::recorder;

namespace {

std::uint64_t mask_before_fork = 0;

// The locks are held across the fork so that the child copies them, and what they guard, at rest. Signals are blocked,
// or a handler of the forking thread would meet the locks.
void before_fork() {
  const std::uint64_t mask = raw::block_signals();
  state.lock.lock();
  mask_before_fork = mask;
  recorder.lock_for_fork();
  bindings_before_fork();
}

void after_fork_in_parent() {
  bindings_after_fork();
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

// The value of `entry` when it is the variable `name` (with its '='), else null. Blank is as good as not set.
const char* value_if(const char* entry, const char* name) {
  const std::size_t length = strlen(name);
  if (strncmp(entry, name, length) != 0) return nullptr;
  const char* value = entry + length;
  return value[strspn(value, " \t\r\n")] != '\0' ? value : nullptr;
}

// The prefix that a process with this environment would use; null when tracing is off in it or the prefix is unknown
// here: then it stands in a configuration file that this process has not read, and the child finds it by itself.
const char* prefix_in(char* const* environment) {
  const char* enable = nullptr;
  const char* configuration = nullptr;
  const char* log_file = nullptr;
  for (char* const* entry = environment; *entry != nullptr; ++entry) {
    if (const char* value = value_if(*entry, "DFTRACER_ENABLE=")) enable = value;
    if (const char* value = value_if(*entry, "DFTRACER_CONFIGURATION=")) configuration = value;
    if (const char* value = value_if(*entry, "DFTRACER_LOG_FILE=")) log_file = value;
  }
  bool on = true;
  if (enable != nullptr ? config::parse_bool(enable, &on) && !on : configuration == nullptr) return nullptr;
  if (log_file != nullptr) return log_file;
  if (configuration == nullptr) return "./trace";
  if (state.config == nullptr || strcmp(configuration, state.configuration) != 0) return nullptr;
  const auto& origins = state.config->origins;
  const auto index = static_cast<std::size_t>(config::OptionId::kLogFile);
  const bool of_environment = index >= origins.size() || origins[index] == config::Origin::kEnvironment;
  return of_environment ? nullptr : state.config->options.log_file.c_str();
}

}  // namespace

bool install_lifecycle_hooks() {
  // An allocator that brings its own fork handlers registers them at its first use. That must be before ours: prepare
  // handlers run newest first, and who waits in ours, for a thread that is starting to record, must not hold its locks.
  void* volatile first = malloc(1);
  free(first);
  return pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0 &&
         at_quick_exit(finish_process) == 0;
}

namespace {

int before_exec(const char* path) {
  // An exec that cannot work must not end the trace.
  if (path != nullptr && raw::call(SYS_faccessat, AT_FDCWD, reinterpret_cast<long>(path), X_OK) != 0) return 0;
  return finish_for_exec() ? 1 : 0;
}

void exec_failed(int ended) { resume_after_exec(ended != 0); }

// Puts the parts together, with a NUL, when they fit; their size.
std::size_t joined(std::initializer_list<std::string_view> parts, char* out, std::size_t room) {
  std::size_t size = 1;
  for (const std::string_view part : parts) size += part.size();
  if (size > room) return size;
  for (const std::string_view part : parts) {
    std::memcpy(out, part.data(), part.size());
    out += part.size();
  }
  *out = '\0';
  return size;
}

std::size_t child_log_file(char* const* environment, char* out, std::size_t size) {
  if (environment == nullptr || state.start_directory[0] == '\0') return 0;
  const char* prefix = prefix_in(environment);
  if (prefix == nullptr || prefix[0] == '\0') return 0;
  if (state.prefix_of_call[0] != '\0' && state.config != nullptr && state.config->options.log_file == prefix) {
    // Nobody chose another one for the child: its traces stand beside this process's.
    return joined({"DFTRACER_LOG_FILE=", state.prefix_of_call}, out, size);
  }
  if (prefix[0] == '/') return 0;
  if (strncmp(prefix, "./", 2) == 0) prefix += 2;
  return joined({"DFTRACER_LOG_FILE=", state.start_directory, "/", prefix}, out, size);
}

std::size_t child_data_dirs(char* const* environment, char* out, std::size_t size) {
  if (environment == nullptr || state.dirs_of_call[0] == '\0' || prefix_in(environment) == nullptr) return 0;
  const char* before = nullptr;
  for (char* const* entry = environment; *entry != nullptr; ++entry) {
    if (const char* value = value_if(*entry, "DFTRACER_DATA_DIR=")) before = value;
  }
  const std::size_t own = strlen(state.dirs_of_call);
  if (before == nullptr) return joined({"DFTRACER_DATA_DIR=", state.dirs_of_call}, out, size);
  if (strncmp(before, state.dirs_of_call, own) == 0) return 0;  // handed down already
  return joined({"DFTRACER_DATA_DIR=", state.dirs_of_call, ":", before}, out, size);
}

pid_t traced_fork(pid_t (*real)()) {
  if (!io::posix_is_on() || !record::recording()) return real();
  const base::Ticks begin = base::clock_now();
  const pid_t result = real();
  if (result <= 0 || !record::recording()) return result;
  record::ArgList<64> args;
  args.add_int64("ret", result);
  const model::SiteId site = record::site_id("fork", "POSIX", model::Layer::kLibcIo);
  record::emit_event(site, begin, base::clock_now(), args);
  return result;
}

void before_vfork() {
  io::pause_io();
  record::suspend_thread();
}

void after_vfork() {
  record::resume_thread();
  io::resume_io();
}

void before_dlopen(const char* file, int flags, const void* caller) {
  if (file != nullptr) state.libraries_opened.fetch_add(1, std::memory_order_relaxed);
  if (state.config != nullptr) before_library(state.config->options, flags);
  gpu_before_dlopen(file, flags, caller);
}

void before_dlsym(const void* caller) {
  bind_new_libraries();
  gpu_before_dlsym(caller);
}

}  // namespace

const intercept::ProcessHooks lifecycle_hooks = {
    finish_process, before_exec, exec_failed,   child_log_file, child_data_dirs,  traced_fork,
    before_vfork,   after_vfork, before_dlopen, before_dlsym,   traced_sigaction, traced_signal,
};

}  // namespace dft::session

void dftracer_preload_start(void) {
  dft::intercept::find_real_process_functions();
  try {
    dft::session::note_preload();
  } catch (...) {
    dft::base::LogLine() << "cannot read the configuration: out of memory: this process is not traced";
  }
}
