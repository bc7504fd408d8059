// SPDX-License-Identifier: MIT
// sigaction and signal, so that handlers which the tracer installs (DFTRACER_BIND_SIGNALS=1) do not show in the
// application: a program that asks for the old handler, and installs its own only over the default one, behaves as
// untraced.
#include <signal.h>

#include "intercept/real_function.h"
#include "session/lifecycle.h"

#define DFT_INTERCEPT(name) __asm__(name) __attribute__((visibility("default")))

namespace {

dft::intercept::RealFunction<int(int, const struct sigaction*, struct sigaction*)> real_sigaction("sigaction");
dft::intercept::RealFunction<sighandler_t(int, sighandler_t)> real_signal("signal");

// The first call may be in a signal handler: dlsym takes the dynamic linker's lock.
__attribute__((constructor)) void look_up() {
  real_sigaction.get();
  real_signal.get();
}

}  // namespace

extern "C" {

int dft_sigaction(int signal, const struct sigaction* wanted, struct sigaction* old) DFT_INTERCEPT("sigaction");
int dft_sigaction(int signal, const struct sigaction* wanted, struct sigaction* old) {
  return dftracer_traced_sigaction(real_sigaction.get(), signal, wanted, old);
}

sighandler_t dft_signal(int signal, sighandler_t handler) DFT_INTERCEPT("signal");
sighandler_t dft_signal(int signal, sighandler_t handler) {
  return dftracer_traced_signal(real_signal.get(), signal, handler);
}
}
