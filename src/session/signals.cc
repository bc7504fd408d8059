// SPDX-License-Identifier: MIT
// Fatal signals, bound only with DFTRACER_BIND_SIGNALS=1.
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>

#include "base/raw_io.h"
#include "session/session_state.h"

// glibc's second name for sigaction. The first may lead to the preload library, which hides our handlers.
extern "C" int __sigaction(int signal, const struct sigaction* wanted, struct sigaction* old) noexcept;

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
  __sigaction(signal, &action, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  // Delivered as soon as it is unblocked: the process dies of the very signal that it got.
  base::raw::kill_thread(base::raw::pid(), base::raw::tid(), signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
}

// Runs the application's handler with the mask that it asked for, not with ours, which blocks everything.
void set_mask_of(const struct sigaction& old, int signal, const void* context) {
  sigset_t mask = static_cast<const ucontext_t*>(context)->uc_sigmask;
  sigorset(&mask, &mask, &old.sa_mask);
  if ((old.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, signal);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
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
    set_mask_of(old, signal, context);
    if (has_info) {
      old.sa_sigaction(signal, info, context);
    } else {
      old.sa_handler(signal);
    }
    return;
  }
}

bool install(int i) {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fatal_signal;
  sigfillset(&action.sa_mask);  // of two signals at once, the one that kills untraced must kill
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | (previous[i].sa_flags & (SA_RESTART | SA_NODEFER));
  return __sigaction(kSignals[i], &action, nullptr) == 0;
}

}  // namespace

void bind_fatal_signals() {
  for (int i = 0; i < kCount; ++i) {
    if (bound[i]) continue;
    struct sigaction old;
    if (__sigaction(kSignals[i], nullptr, &old) != 0) continue;
    const bool ignored = (old.sa_flags & SA_SIGINFO) == 0 && old.sa_handler == SIG_IGN;
    if (ignored) continue;  // stays ignored
    previous[i] = old;
    bound[i] = install(i);
  }
}

namespace {
int index_of(int signal) {
  for (int i = 0; i < kCount; ++i) {
    if (kSignals[i] == signal && bound[i]) return i;
  }
  return -1;
}
bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_fatal_signal;
}
}  // namespace

int traced_sigaction(int (*real)(int, const struct sigaction*, struct sigaction*), int signal,
                     const struct sigaction* wanted, struct sigaction* old) {
  const int i = index_of(signal);
  if (i < 0) return real(signal, wanted, old);
  const bool to_default = wanted != nullptr && (wanted->sa_flags & SA_SIGINFO) == 0 && wanted->sa_handler == SIG_DFL;
  struct sigaction before;
  if (real(signal, nullptr, &before) != 0) return -1;
  if (is_ours(before)) before = previous[i];
  if (to_default) {
    // The default kills: the trace is to be ended first, so our handler takes its place.
    previous[i] = *wanted;
    install(i);
  } else if (wanted != nullptr && real(signal, wanted, nullptr) != 0) {
    return -1;
  }
  if (old != nullptr) *old = before;
  return 0;
}

}  // namespace dft::session
