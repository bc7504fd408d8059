// SPDX-License-Identifier: MIT
// The names by which AMD's libraries find this one, and what they call then. HIP, HSA, ROCTx and RCCL hand the tables
// of their functions to librocprofiler-register. Where a tool is in the process (any rocprofiler_configure), that loads
// rocprofiler-sdk and ends the process if it is not installed; so it is to find our rocprofiler_set_api_table first,
// which passes the tables on to rocprofiler-sdk only if it is there and somebody wants it.
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/log.h"
#include "base/raw_io.h"
#include "record/recorder.h"
#include "session/hip_part.h"
#include "session/session_state.h"
#include "session/sources.h"
#include "sources/gpu/rocprof/backend.h"

#define DFT_EXPORT extern "C" __attribute__((visibility("default")))

namespace rocprof = dft::gpu::rocprof;

DFT_EXPORT rocprof::ConfigureResult* rocprofiler_configure(std::uint32_t release, const char* release_text,
                                                           std::uint32_t priority, void* client_id);
DFT_EXPORT int rocprofiler_set_api_table(const char* name, std::uint64_t version, std::uint64_t instance, void** tables,
                                         std::uint64_t count);

namespace dft::session::hip {

namespace {

std::atomic<Registration> state_of_registration{Registration::kNone};
const void* library_code = nullptr;  // an address in the library that asked
int pid_of_library = 0;              // of the process in which it is whole

void refuse(const char* why) {
  rocprof::backend.refuse(why);
  state_of_registration.store(Registration::kRefused, std::memory_order_release);
}

// A library with device code makes itself known to HIP in its constructor, which may run before ours: dlopen runs ours
// then.
void run_own_constructors() {
  if (constructors_have_run()) return;
  Dl_info self;
  if (dladdr(reinterpret_cast<const void*>(&rocprofiler_configure), &self) == 0 || self.dli_fname == nullptr) return;
  if (dlopen(self.dli_fname, RTLD_LAZY | RTLD_NODELETE) == nullptr) dlerror();
}

// The library's layout of its client's name differs between releases.
void give_name(std::uint32_t release, void* client_id) {
  static constexpr const char* kName = "dftracer";
  if (client_id == nullptr) return;
  if (release >= rocprof::kFirstWithClientSize) {
    static_cast<rocprof::ClientId1*>(client_id)->name = kName;
  } else {
    static_cast<rocprof::ClientId0*>(client_id)->name = kName;
  }
}

// A descriptor of this process is AMD's device: HSA has been started, or is on its way.
bool has_open_device() {
  constexpr int kMostDescriptors = 4096;
  constexpr std::string_view kDevice = "/dev/kfd";
  char link[32];
  char target[64];
  for (int fd = 0; fd < kMostDescriptors; ++fd) {
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const long size = base::raw::readlink(link, target, sizeof target);
    if (size > 0 && std::string_view(target, static_cast<std::size_t>(size)) == kDevice) return true;
  }
  return false;
}

// A child that is forked from a process that uses HIP and calls exit() would die in rocprofiler-sdk's own end, which
// touches what HSA has kept from the child. Registered after that end was, this comes first. What was registered before
// HIP is skipped then, as it would be by the crash.
void leave_child(int status, void*) {
  if (base::raw::pid() == pid_of_library) return;
  // What HSA keeps from children is there only once it was started (HIP 7: by any first call). It takes a queue or a
  // copy to die of it, but queues cannot be seen from here.
  if (!rocprof::capture.in_use.load(std::memory_order_relaxed) && !has_open_device()) return;
  const SourcesPaused paused;
  finish_process();
  std::fflush(nullptr);
  _exit(status);
}

void watch_for_exit() {
  static std::atomic<bool> watched{false};
  if (!watched.exchange(true, std::memory_order_relaxed)) on_exit(&leave_child, nullptr);
}

// False: the tracer wants nothing of rocprofiler-sdk in this process.
bool accept(const void* caller) {
  const SourcesPaused paused;
  Registration none = Registration::kNone;
  const config::Options* config = wanted_options();
  if (config == nullptr) return false;
  if (!state_of_registration.compare_exchange_strong(none, Registration::kAsked, std::memory_order_acq_rel)) {
    return false;
  }
  library_code = caller;
  if (rocprof::has_driver(config->hip_topology.c_str())) return true;
  refuse("no AMD GPU in this machine: the driver's /sys/class/kfd/kfd/topology/nodes is missing");
  base::LogLine() << "HIP is not traced: no AMD GPU in this machine (" << config->hip_topology.c_str()
                  << " is not there)";
  start_if_ready();
  return false;
}

int initialize(void (*)(), void*) {
  const SourcesPaused paused;
  const config::Options* config = wanted_options();
  if (config == nullptr) return -1;
  is_inside = true;
  {
    const base::SignalGuard signals;
    rocprof::Library library;
    if (!rocprof::library_of(library_code, &library)) {
      refuse("rocprofiler-sdk lacks functions that 0.4 and newer have");
    } else {
      if (part.wanted() != Want::kWaiting) fill_settings(*config, base::raw::pid());
      const bool made = rocprof::backend.make(library, part.settings);
      pid_of_library = base::raw::pid();
      if (made) watch_for_exit();
      state_of_registration.store(made ? Registration::kReady : Registration::kRefused, std::memory_order_release);
    }
  }
  is_inside = false;
  start_if_ready();
  return registration() == Registration::kReady ? 0 : -1;
}

// The process ends, and the library with it: all work is done, and what it has left is delivered here.
void finalize(void*) {
  const SourcesPaused paused;
  end_before_library();
}

using PassTables = int (*)(const char*, std::uint64_t, std::uint64_t, void**, std::uint64_t);
std::atomic<PassTables> pass_tables{nullptr};
std::atomic<bool> tables_stay{false};  // nobody wants them, or there is nobody to pass them to

void* next_symbol(const char* name) {
  const bool was_inside = is_inside;
  is_inside = true;
  void* const found = dlsym(RTLD_NEXT, name);
  is_inside = was_inside;
  return found;
}

// In the global scope, which is asked by its handle: RTLD_DEFAULT would also look in this library's own scope.
void* global_symbol(const char* name) {
  const bool was_inside = is_inside;
  is_inside = true;
  void* const program = dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD);
  void* const found = program != nullptr ? dlsym(program, name) : nullptr;
  is_inside = was_inside;
  return found;
}

bool is_given(const char* variable) {
  const char* text = config::process_environment(variable);
  return text != nullptr && text[0] != '\0';
}

// Another tool, for which rocprofiler-sdk would be loaded without us.
bool other_tool_is_there() {
  return is_given("ROCP_TOOL_LIBRARIES") || is_given("ROCPROFILER_REGISTER_FORCE_LOAD") ||
         is_given("ROCPROFILER_REGISTER_LIBRARY") ||
         global_symbol("rocprofiler_configure") != reinterpret_cast<void*>(&rocprofiler_configure) ||
         next_symbol("rocprofiler_configure") != nullptr;
}

// Null: the tables stay where they are.
PassTables find_receiver(const void* caller) {
  const SourcesPaused paused;
  // A copy that the program or another tool has linked.
  if (void* const linked = next_symbol("rocprofiler_set_api_table")) return reinterpret_cast<PassTables>(linked);
  const bool wanted = dftracer_on != 0 && wanted_options() != nullptr;
  if (!wanted && !other_tool_is_there()) return nullptr;
  rocprof::Search search;
  search.file = config::process_environment("ROCPROFILER_REGISTER_LIBRARY");
  search.rocm_path = config::process_environment("ROCM_PATH");
  search.beside = caller;
  rocprof::Library library;
  is_inside = true;
  const bool found = rocprof::find_library(search, &library);
  is_inside = false;
  if (found) return reinterpret_cast<PassTables>(dlsym(library.handle, "rocprofiler_set_api_table"));
  if (wanted) {
    refuse("librocprofiler-sdk was not found (ROCM_PATH names the root of ROCm)");
    base::LogLine() << "HIP is not traced: librocprofiler-sdk was not found (ROCM_PATH names the root of ROCm)";
    start_if_ready();
  }
  return nullptr;
}

rocprof::ConfigureResult client{sizeof(rocprof::ConfigureResult), &initialize, &finalize, nullptr};

}  // namespace

Registration registration() { return state_of_registration.load(std::memory_order_acquire); }

bool is_found_by_loader() { return global_symbol("rocprofiler_configure") != nullptr; }

namespace {

// As librocprofiler-register tells of what has made itself known to it.
struct RegisteredRuntime {
  std::size_t size;
  const char* name;
};
int note_hsa(const RegisteredRuntime* runtime, void* found) {
  if (runtime->name != nullptr && std::strcmp(runtime->name, "hsa") == 0) *static_cast<bool*>(found) = true;
  return 0;
}

// HSA runs or is being started: before 1.3 rocprofiler-sdk cannot come in then (1.0.0 ends the process when it meets a
// stream that it has not seen being made).
bool is_hsa_in_use() {
  bool found = false;
  void* const function = global_symbol("rocprofiler_register_iterate_registration_info");
  if (function != nullptr)
    reinterpret_cast<int (*)(int (*)(const RegisteredRuntime*, void*), void*)>(function)(&note_hsa, &found);
  return found || has_open_device();
}

// What was handed over before rocprofiler-sdk was there is handed over again, where librocprofiler-register can.
void hand_over_again() {
  void* const function = global_symbol("rocprofiler_register_invoke_nonpropagated_registrations");
  if (function != nullptr) reinterpret_cast<int (*)()>(function)();
}

}  // namespace

namespace {
void refuse_and_say(const char* why) {
  refuse(why);
  base::LogLine() << "HIP is not traced: " << why;
}
void refuse_late() {
  refuse_and_say("HIP was in use before the tracer: load the tracer first (LD_PRELOAD, dftracer run)");
}
}  // namespace

void register_by_force() {
  rocprof::Search search;
  search.rocm_path = config::process_environment("ROCM_PATH");
  rocprof::Library library;
  const bool is_late = rocprof::runtime_is_mapped();
  if (!rocprof::find_library(search, &library)) {
    if (!is_late) return;  // nothing of ROCm may ever come
    return refuse_and_say("librocprofiler-sdk was not found (ROCM_PATH names the root of ROCm)");
  }
  const bool is_too_late = is_late && library.release < rocprof::kFirstWithLateStart && is_hsa_in_use();
  if (is_too_late) return refuse_late();
  if (library.functions.force_configure == nullptr ||
      library.functions.force_configure(&rocprofiler_configure) != rocprof::kDone) {
    return refuse_late();
  }
  if (is_late) hand_over_again();
}

}  // namespace dft::session::hip

DFT_EXPORT rocprof::ConfigureResult* rocprofiler_configure(std::uint32_t release, const char*, std::uint32_t,
                                                           void* client_id) {
  using namespace dft::session::hip;
  run_own_constructors();
  if (dftracer_on == 0 || !accept(__builtin_return_address(0))) return nullptr;
  give_name(release, client_id);
  return &client;
}

DFT_EXPORT int rocprofiler_set_api_table(const char* name, std::uint64_t version, std::uint64_t instance, void** tables,
                                         std::uint64_t count) {
  using namespace dft::session::hip;
  PassTables pass = pass_tables.load(std::memory_order_acquire);
  if (pass == nullptr && !tables_stay.load(std::memory_order_acquire)) {
    run_own_constructors();
    pass = find_receiver(__builtin_return_address(0));
    if (pass == nullptr) tables_stay.store(true, std::memory_order_release);
    pass_tables.store(pass, std::memory_order_release);
  }
  return pass != nullptr ? pass(name, version, instance, tables, count) : 0;
}
