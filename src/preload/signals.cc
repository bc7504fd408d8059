// SPDX-License-Identifier: MIT
// sigaction and signal, so that handlers which the tracer installs (DFTRACER_BIND_SIGNALS=1) do not show in the
// application: a program that asks for the old handler, and installs its own only over the default one, behaves as
// untraced.
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "intercept/real_function.h"
#include "session/lifecycle.h"

#define DFT_INTERCEPT(name) __asm__(name) __attribute__((visibility("default")))

namespace {

dft::intercept::RealFunction<int(int, const struct sigaction*, struct sigaction*)> real_sigaction("sigaction");

// BSD semantics, as libc's signal() on Linux: restarted calls, the handler stays.
sighandler_t install(int signal, sighandler_t handler, int flags) {
  if (handler == SIG_ERR || signal < 1 || signal >= NSIG) {
    errno = EINVAL;
    return SIG_ERR;
  }
  struct sigaction wanted;
  struct sigaction old;
  memset(&wanted, 0, sizeof wanted);
  wanted.sa_handler = handler;
  sigemptyset(&wanted.sa_mask);
  if (flags == SA_RESTART) sigaddset(&wanted.sa_mask, signal);
  wanted.sa_flags = flags;
  if (dftracer_traced_sigaction(real_sigaction.get(), signal, &wanted, &old) != 0) return SIG_ERR;
  return old.sa_handler;
}

}  // namespace

extern "C" {

int dft_sigaction(int signal, const struct sigaction* wanted, struct sigaction* old) DFT_INTERCEPT("sigaction");
int dft_sigaction(int signal, const struct sigaction* wanted, struct sigaction* old) {
  return dftracer_traced_sigaction(real_sigaction.get(), signal, wanted, old);
}

sighandler_t dft_signal(int signal, sighandler_t handler) DFT_INTERCEPT("signal");
sighandler_t dft_signal(int signal, sighandler_t handler) { return install(signal, handler, SA_RESTART); }
}
