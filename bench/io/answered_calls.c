// SPDX-License-Identifier: MIT
// Purpose: preloaded behind a tracer (and alone for the untraced figure), answers the calls on "other/file..." itself.
//          What a tracer adds to a call that it leaves out is a few nanoseconds; the kernel's part of such a call is a
//          hundred times that and varies by more.
// Threads: any.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kAnswered = 900 };  // the number that all these files get

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(list, int) : 0;
  va_end(list);
  if (strncmp(path, "other/file", 10) == 0) return kAnswered;
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
ssize_t read(int fd, void* buffer, size_t size) { return fd == kAnswered ? 0 : syscall(SYS_read, fd, buffer, size); }
int close(int fd) { return fd == kAnswered ? 0 : (int)syscall(SYS_close, fd); }
