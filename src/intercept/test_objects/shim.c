/* SPDX-License-Identifier: MIT */
/* Another library that puts itself in front of read, as a preload library or a program's own shim does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <sys/types.h>

long shim_reads = 0;

ssize_t read(int fd, void* data, size_t size) {
  static ssize_t (*next)(int, void*, size_t);
  if (next == NULL) next = (ssize_t(*)(int, void*, size_t))dlsym(RTLD_NEXT, "read");
  __atomic_fetch_add(&shim_reads, 1, __ATOMIC_RELAXED);
  return next(fd, data, size);
}
