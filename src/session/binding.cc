// SPDX-License-Identifier: MIT
#include "session/binding.h"

#include <atomic>
#include <new>

#include "base/futex_lock.h"
#include "base/log.h"
#include "intercept/got_binder.h"
#include "intercept/preload_library.h"
#include "intercept/process_functions.h"
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

// One table for the binder, kept for the life of the process. Null: no memory.
intercept::Binding* make_table(const config::Options& config, std::size_t& count) {
  const io::BindingList posix = io::posix_bindings();
  const io::BindingList stdio = io::stdio_bindings();
  auto* const table = new (std::nothrow) intercept::Binding[DFT_PROCESS_ROWS + posix.count + stdio.count];
  if (table == nullptr) return nullptr;
  count = 0;
  for (std::size_t row = 0; row < DFT_PROCESS_ROWS; ++row) {
    if (config.bind_signals || !intercept::is_signal_function(row)) table[count++] = dftracer_process_bindings[row];
  }
  if (!config.io) return table;
  for (const io::BindingList& list : {posix, stdio}) {
    for (std::size_t row = 0; row < list.count; ++row) table[count++] = list.rows[row];
  }
  return table;
}

bool binder_is_at_work() { return binding.load(std::memory_order_acquire) == Binding::kDone; }

}  // namespace

bool calls_are_bound() {
  return intercept::preload_library_is_loaded() || binding.load(std::memory_order_acquire) != Binding::kNone;
}

bool bind_calls(const config::Options& config) {
  if (intercept::preload_library_is_loaded()) return true;
  bind_new_libraries();
  Binding expected = Binding::kNone;
  // Who comes second does not wait: it may hold the dynamic linker's lock, which the first one needs.
  if (!binding.compare_exchange_strong(expected, Binding::kUnderWay, std::memory_order_acq_rel)) return true;
  std::size_t count = 0;
  const intercept::Binding* table = make_table(config, count);
  if (table == nullptr || !binder.bind(table, count)) {
    delete[] table;
    binding.store(Binding::kNone, std::memory_order_release);
    base::LogLine() << "cannot bind calls: out of memory: only annotated regions are traced";
    return false;
  }
  intercept::find_real_process_functions();
  binding.store(Binding::kDone, std::memory_order_release);
  return true;
}

void bind_new_libraries() {
  if (binder_is_at_work()) binder.bind_new_objects(dlopen_flags.load(std::memory_order_relaxed));
}

void bind_complete_libraries() {
  if (!binder_is_at_work() || !looking.try_lock()) return;
  binder.bind_complete_objects(dlopen_flags.load(std::memory_order_relaxed));
  looking.unlock();
}

void before_library(int flags) {
  bind_new_libraries();
  dlopen_flags.fetch_or(flags, std::memory_order_relaxed);
}

void bindings_before_fork() { looking.lock(); }
void bindings_after_fork() { looking.unlock(); }
void bindings_in_child() {
  looking.reset_after_fork();
  binder.reset_after_fork();
}

}  // namespace dft::session
