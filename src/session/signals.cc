// SPDX-License-Identifier: MIT
// Fatal signals, bound only with DFTRACER_BIND_SIGNALS=1; and SIGTERM alone in a process that is a worker of another
// one, which ends its workers by it.
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

int place_of(int signal) {
  int i = 0;
  while (i < kCount && kSignals[i] != signal) ++i;
  return i < kCount ? i : -1;
}

// What the kernel would deliver to the application now. SA_RESETHAND: that handler was it, the default comes next.
struct sigaction action_due(int i) {
  struct sigaction due = previous[i];
  if ((due.sa_flags & SA_RESETHAND) != 0) {
    due.sa_handler = __atomic_exchange_n(&previous[i].sa_handler, SIG_DFL, __ATOMIC_RELAXED);
  }
  return due;
}

// The application's own handler decides what becomes of the process, so the trace is only flushed; without one the
// signal kills, and the trace is ended.
void on_fatal_signal(int signal, siginfo_t* info, void* context) {
  const int i = place_of(signal);
  if (i < 0) return;
  const struct sigaction due = action_due(i);
  if (due.sa_handler == SIG_DFL) {
    finish_in_handler();
    deliver_default(signal);
    return;
  }
  flush_in_handler();
  set_mask_of(due, signal, context);
  if ((due.sa_flags & SA_SIGINFO) != 0) {
    due.sa_sigaction(signal, info, context);
  } else {
    due.sa_handler(signal);
  }
}

// In place of a handler of the application ours runs on the stack that it asked for. In place of the default it takes
// the alternate stack where there is one, so that the trace of a stack overflow is ended too.
bool install(int i) {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fatal_signal;
  sigfillset(&action.sa_mask);  // of two signals at once, the one that kills untraced must kill
  action.sa_flags = SA_SIGINFO | (previous[i].sa_flags & (SA_RESTART | SA_NODEFER | SA_ONSTACK));
  if (previous[i].sa_handler == SIG_DFL) action.sa_flags |= SA_ONSTACK;
  return __sigaction(kSignals[i], &action, nullptr) == 0;
}

}  // namespace

void bind_fatal_signals() {
  for (int i = 0; i < kCount; ++i) {
    if (bound[i]) continue;
    struct sigaction old;
    if (__sigaction(kSignals[i], nullptr, &old) != 0) continue;
    if (old.sa_handler == SIG_IGN) continue;  // stays ignored
    previous[i] = old;
    bound[i] = install(i);
  }
}

void bind_termination() {
  const int i = place_of(SIGTERM);
  struct sigaction old;
  if (bound[i] || __sigaction(SIGTERM, nullptr, &old) != 0 || old.sa_handler != SIG_DFL) return;
  previous[i] = old;
  install(i);  // not `bound`: a handler that the program sets later simply takes its place
}

namespace {

int bound_place_of(int signal) {
  const int i = place_of(signal);
  return i >= 0 && bound[i] ? i : -1;
}

// Instead of our handler the application sees its own. Whether calls are restarted is the kernel's to say:
// siginterrupt() changes it there.
void hide_ours(struct sigaction& action, int i) {
  if ((action.sa_flags & SA_SIGINFO) == 0 || action.sa_sigaction != on_fatal_signal) return;
  const int restart = action.sa_flags & SA_RESTART;
  action = previous[i];
  action.sa_flags = (action.sa_flags & ~SA_RESTART) | restart;
}

}  // namespace

int traced_sigaction(int (*real)(int, const struct sigaction*, struct sigaction*), int signal,
                     const struct sigaction* wanted, struct sigaction* old) {
  const int i = bound_place_of(signal);
  if (i < 0) return real(signal, wanted, old);
  struct sigaction before;
  if (real(signal, nullptr, &before) != 0) return -1;
  hide_ours(before, i);
  if (wanted != nullptr && wanted->sa_handler == SIG_DFL) {
    // The default kills: the trace is to be ended first, so our handler takes its place.
    previous[i] = *wanted;
    install(i);
  } else if (wanted != nullptr && real(signal, wanted, nullptr) != 0) {
    return -1;
  }
  if (old != nullptr) *old = before;
  return 0;
}

// libc's own signal() sets the flags, because only it knows what siginterrupt() asked for.
intercept::SignalHandler traced_signal(intercept::SignalCall* real, int signal, intercept::SignalHandler handler) {
  const int i = bound_place_of(signal);
  if (i < 0) return real(signal, handler);
  const base::SignalGuard none_meets_the_default;
  struct sigaction before;
  if (__sigaction(signal, nullptr, &before) != 0 || real(signal, handler) == SIG_ERR) return SIG_ERR;
  hide_ours(before, i);
  if (handler == SIG_DFL) {
    __sigaction(signal, nullptr, &previous[i]);
    install(i);
  }
  return before.sa_handler;
}

}  // namespace dft::session
