/* SPDX-License-Identifier: MIT */
/* A program that knows nothing of the tracer (WITH_INIT_CALL: but for that) and uses HIP. Usage: plain
 * [return|exit|_exit|quick_exit|term|abort] */
#include <signal.h>
#include <unistd.h>

#include "use_hip.h"
#ifdef WITH_INIT_CALL
#include <dftracer/dftracer.h>
#endif

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "return";
#ifdef WITH_INIT_CALL
  DFTRACER_C_INIT(NULL, NULL, NULL);
#endif
  use_hip();
  if (strcmp(how, "exit") == 0) exit(0);
  if (strcmp(how, "_exit") == 0) _exit(0);
  if (strcmp(how, "quick_exit") == 0) quick_exit(0);
  if (strcmp(how, "term") == 0) raise(SIGTERM);
  if (strcmp(how, "abort") == 0) abort();
  return 0;
}
