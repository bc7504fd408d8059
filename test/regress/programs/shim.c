/* SPDX-License-Identifier: MIT */
/* S23 for life-cycle calls: another interposer, which counts fork, execve and _exit and hands them on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

#include "facts.h"

pid_t fork(void) {
  pid_t (*next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
  fact("shim_fork", getpid());
  return next();
}

int execve(const char* path, char* const* arguments, char* const* environment) {
  int (*next)(const char*, char* const*, char* const*) =
      (int (*)(const char*, char* const*, char* const*))dlsym(RTLD_NEXT, "execve");
  fact("shim_execve", getpid());
  return next(path, arguments, environment);
}

void _exit(int status) {
  void (*next)(int) = (void (*)(int))dlsym(RTLD_NEXT, "_exit");
  fact("shim__exit", getpid());
  next(status);
  __builtin_unreachable();
}
