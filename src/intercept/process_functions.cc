// SPDX-License-Identifier: MIT
// The table, and the end of the process, fork, signals. exec and spawn: exec_functions.cc; the functions that need
// assembly: assembly_functions.cc.
#include "intercept/process_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/raw_io.h"
#include "intercept/process_wrappers.h"

std::atomic<const dft::intercept::ProcessHooks*> dft_process_hooks{nullptr};

namespace dft::intercept {

// constinit is C++20: an aggregate with constant members needs no code at start.
#define DFT_DEFINE_REAL(row, name) RealFunction real_##name{#name, {nullptr}};
DFT_PROCESS_FUNCTIONS(DFT_DEFINE_REAL)
DFT_PROCESS_FUNCTIONS_IN_ASSEMBLY(DFT_DEFINE_REAL)
DFT_LOOKUP_FUNCTIONS(DFT_DEFINE_REAL)

namespace {
[[noreturn]] void end_process(RealFunction& real, int status) {
  if (const ProcessHooks* hooks = process_hooks()) hooks->before_exit();
  if (auto* exit_now = real.as<void(int)>()) exit_now(status);
  for (;;) base::raw::call(SYS_exit_group, status);
}
}  // namespace

void wrap__exit(int status) { end_process(real__exit, status); }
void wrap__Exit(int status) { end_process(real__Exit, status); }

// quick_exit handlers of the application run first (they may have events), ours among them, then _exit.
void wrap_quick_exit(int status) {
  if (auto* quick = real_quick_exit.as<void(int)>()) quick(status);
  end_process(real__exit, status);
}

pid_t wrap_fork() {
  auto* real = real_fork.as<pid_t()>();
  const ProcessHooks* hooks = process_hooks();
  return hooks != nullptr ? hooks->fork(real) : real();
}

int wrap_sigaction(int signal, const struct sigaction* wanted, struct sigaction* old) {
  auto* real = real_sigaction.as<SigactionCall>();
  const ProcessHooks* hooks = process_hooks();
  return hooks != nullptr ? hooks->sigaction(real, signal, wanted, old) : real(signal, wanted, old);
}

SignalHandler wrap_signal(int signal, SignalHandler handler) {
  auto* real = real_signal.as<SignalCall>();
  const ProcessHooks* hooks = process_hooks();
  return hooks != nullptr ? hooks->signal(real, signal, handler) : real(signal, handler);
}

void find_real_process_functions() {
#define DFT_FIND(row, name) real_##name.find();
  DFT_PROCESS_FUNCTIONS(DFT_FIND)
  DFT_PROCESS_FUNCTIONS_IN_ASSEMBLY(DFT_FIND)
  DFT_LOOKUP_FUNCTIONS(DFT_FIND)
}

}  // namespace dft::intercept

namespace {
constexpr int kPlaces[] = {
#define DFT_PLACE(row, name) row,
    DFT_PROCESS_FUNCTIONS(DFT_PLACE) DFT_PROCESS_FUNCTIONS_IN_ASSEMBLY(DFT_PLACE) DFT_LOOKUP_FUNCTIONS(DFT_PLACE)};
constexpr bool rows_are_in_order() {
  int at = 0;
  for (const int place : kPlaces)
    if (place != at++) return false;
  return at == DFT_PROCESS_ROWS;
}
static_assert(rows_are_in_order());
}  // namespace

extern "C" const dft::intercept::Binding dftracer_process_bindings[DFT_PROCESS_ROWS] = {
#define DFT_ROW(row, name) \
  {#name, nullptr, reinterpret_cast<void*>(&dft::intercept::wrap_##name), &dft::intercept::real_##name.address},
    DFT_PROCESS_FUNCTIONS(DFT_ROW) DFT_PROCESS_FUNCTIONS_IN_ASSEMBLY(DFT_ROW) DFT_LOOKUP_FUNCTIONS(DFT_ROW)};
