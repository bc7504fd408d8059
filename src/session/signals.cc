// SPDX-License-Identifier: MIT
// Fatal signals, bound only with DFTRACER_BIND_SIGNALS=1.
#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "base/raw_io.h"
#include "session/session_state.h"

namespace dft::session {

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT, SIGHUP};
constexpr int kCount = sizeof kSignals / sizeof kSignals[0];
struct sigaction previous[kCount];
bool bound[kCount];

void deliver_default(int signal) {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  // Delivered as soon as it is unblocked: the process dies of the very signal that it got.
  base::raw::kill_thread(base::raw::pid(), base::raw::tid(), signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
}

// The application's own handler decides what becomes of the process, so the trace is only flushed; without one the
// signal kills, and the trace is ended.
void on_fatal_signal(int signal, siginfo_t* info, void* context) {
  for (int i = 0; i < kCount; ++i) {
    if (kSignals[i] != signal) continue;
    const struct sigaction& old = previous[i];
    const bool has_info = (old.sa_flags & SA_SIGINFO) != 0;
    if (!has_info && old.sa_handler == SIG_DFL) {
      finish_in_handler();
      deliver_default(signal);
      return;
    }
    if (!has_info && old.sa_handler == SIG_IGN) return;
    flush_in_handler();
    if (has_info) {
      old.sa_sigaction(signal, info, context);
    } else {
      old.sa_handler(signal);
    }
    return;
  }
}

}  // namespace

void bind_fatal_signals() {
  for (int i = 0; i < kCount; ++i) {
    if (bound[i]) continue;
    struct sigaction old;
    if (sigaction(kSignals[i], nullptr, &old) != 0) continue;
    const bool ignored = (old.sa_flags & SA_SIGINFO) == 0 && old.sa_handler == SIG_IGN;
    if (ignored) continue;  // stays ignored
    struct sigaction action;
    std::memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fatal_signal;
    action.sa_mask = old.sa_mask;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | (old.sa_flags & (SA_RESTART | SA_NODEFER));
    previous[i] = old;
    bound[i] = sigaction(kSignals[i], &action, nullptr) == 0;
  }
}

}  // namespace dft::session
