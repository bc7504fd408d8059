/* SPDX-License-Identifier: MIT */
/* A program that knows nothing of the tracer and uses HIP. Usage: plain [return|exit|_exit|quick_exit|term|abort] */
#include <signal.h>
#include <unistd.h>

#include "use_hip.h"

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "return";
  use_hip();
  if (strcmp(how, "exit") == 0) exit(0);
  if (strcmp(how, "_exit") == 0) _exit(0);
  if (strcmp(how, "quick_exit") == 0) quick_exit(0);
  if (strcmp(how, "term") == 0) raise(SIGTERM);
  if (strcmp(how, "abort") == 0) abort();
  return 0;
}
