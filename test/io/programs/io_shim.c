/* SPDX-License-Identifier: MIT */
/* S23: another interposer, which counts open and read of files called `in` and hands them on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "facts.h"

static int opens, reads;

int open(const char* path, int flags, ...) {
  int (*next)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open");
  va_list list;
  va_start(list, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(list, int) : 0;
  va_end(list);
  opens += strcmp(path, "in") == 0;
  return next(path, flags, mode);
}

ssize_t read(int fd, void* bytes, size_t count) {
  ssize_t (*next)(int, void*, size_t) = (ssize_t(*)(int, void*, size_t))dlsym(RTLD_NEXT, "read");
  reads += count == 7;
  return next(fd, bytes, count);
}

__attribute__((destructor)) static void tell(void) {
  fact("opens", opens);
  fact("reads", reads);
}
