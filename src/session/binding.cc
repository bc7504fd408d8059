// SPDX-License-Identifier: MIT
#include "session/binding.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <atomic>
#include <new>

#include "base/futex_lock.h"
#include "base/log.h"
#include "intercept/got_binder.h"
#include "intercept/preload_library.h"
#include "intercept/process_functions.h"
#include "intercept/real_function.h"
#include "sources/io/bindings.h"

namespace dft::session {

namespace {

intercept::GotBinder binder;
enum class Binding : std::uint8_t { kNone, kUnderWay, kDone };
std::atomic<Binding> binding{Binding::kNone};
// Held by the drain's thread while it looks at the loaded objects, and across a fork: the child would inherit a lock of
// the dynamic linker that nobody releases.
base::FutexLock looking;
std::atomic<int> dlopen_flags{0};  // of all dlopens: once RTLD_DEEPBIND was seen, any new library may have it

// One table for the binder, kept for the life of the process.
const intercept::Binding* table = nullptr;
std::size_t rows = 0;

// Behind the preload library only it can say what is next.
bool find_real(intercept::Binding& row) {
  if (row.real->load(std::memory_order_relaxed) == nullptr) row.real->store(intercept::next_definition(row.name));
  row.real_is_given = true;
  return row.real->load(std::memory_order_relaxed) != nullptr;
}

bool make_table(const config::Options& config) {
  const io::BindingList posix = io::posix_bindings();
  const io::BindingList stdio = io::stdio_bindings();
  auto* const all = new (std::nothrow) intercept::Binding[DFT_PROCESS_ROWS + posix.count + stdio.count];
  if (all == nullptr) return false;
  table = all;
  rows = 0;
  const auto add = [&](const intercept::Binding& row, bool exported = true) {
    all[rows] = row;
    if (!intercept::preload_library_is_loaded() || !exported || find_real(all[rows])) ++rows;
  };
  for (std::size_t row = 0; row < DFT_PROCESS_ROWS; ++row) {
    if (config.bind_signals || !intercept::is_signal_function(row)) {
      add(dftracer_process_bindings[row], !intercept::is_lookup_function(row));
    }
  }
  if (!config.io) return true;
  for (const io::BindingList& list : {posix, stdio}) {
    for (std::size_t row = 0; row < list.count; ++row) add(list.rows[row]);
  }
  return true;
}

// The interceptors of a sanitizer that is inside the program (clang) are reached without a slot.
void tell_calls_out_of_reach() {
  for (const char* name : {"__asan_init", "__tsan_init", "__msan_init"}) {
    Dl_info runtime;
    Dl_info program;
    if (dladdr(dlsym(RTLD_DEFAULT, name), &runtime) == 0) continue;
    if (dladdr(reinterpret_cast<void*>(getauxval(AT_PHDR)), &program) == 0) continue;
    if (runtime.dli_fbase != program.dli_fbase) continue;
    base::LogLine()
        << "the sanitizer inside this program takes its calls of open, read and others before they can be traced: "
           "preload the tracer (dftracer run) to see them";
  }
}

bool bind_slots(const config::Options& config) {
  Binding expected = Binding::kNone;
  // Who comes second does not wait: it may hold the dynamic linker's lock, which the first one needs.
  if (!binding.compare_exchange_strong(expected, Binding::kUnderWay, std::memory_order_acq_rel)) return true;
  if (!make_table(config) || !binder.bind(table, rows)) {
    delete[] table;
    table = nullptr;
    binding.store(Binding::kNone, std::memory_order_release);
    base::LogLine() << "cannot bind calls: out of memory: only annotated regions are traced";
    return false;
  }
  intercept::find_real_process_functions();
  binding.store(Binding::kDone, std::memory_order_release);
  if (config.io && !intercept::preload_library_is_loaded()) tell_calls_out_of_reach();
  return true;
}

bool binder_is_at_work() { return binding.load(std::memory_order_acquire) == Binding::kDone; }

}  // namespace

bool calls_are_bound() {
  return intercept::preload_library_is_loaded() || binding.load(std::memory_order_acquire) != Binding::kNone;
}

bool bind_calls(const config::Options& config) {
  if (intercept::preload_library_is_loaded()) return true;
  bind_new_libraries();
  return bind_slots(config);
}

void bind_new_libraries() {
  if (binder_is_at_work()) binder.bind_new_objects(dlopen_flags.load(std::memory_order_relaxed));
}

void bind_complete_libraries() {
  if (!binder_is_at_work() || !looking.try_lock()) return;
  binder.bind_complete_objects(dlopen_flags.load(std::memory_order_relaxed));
  looking.unlock();
}

void look_at_objects(void (*look)()) {
  if (!looking.try_lock()) return;
  look();
  looking.unlock();
}

void before_library(const config::Options& config, int flags) {
  bind_new_libraries();
  if ((flags & RTLD_DEEPBIND) != 0 && intercept::preload_library_is_loaded()) bind_slots(config);
  dlopen_flags.fetch_or(flags, std::memory_order_relaxed);
}

void bindings_before_fork() { looking.lock(); }
void bindings_after_fork() { looking.unlock(); }
void bindings_in_child() {
  looking.reset_after_fork();
  binder.reset_after_fork();
}

}  // namespace dft::session
