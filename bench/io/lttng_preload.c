// SPDX-License-Identifier: MIT
// What a user of LTTng-UST would preload to trace the calls of io_calls.c.
// Threads: any. LTTng's own calls within a tracepoint are let through.
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "io/lttng_io_provider.h"

static int on;
static __thread int inside __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void start(void) { on = 1; }

#define NEXT(type, name)                                      \
  static __typeof__(type)* next_##name;                       \
  if (__builtin_expect(next_##name == NULL, 0)) {             \
    next_##name = (__typeof__(type)*)dlsym(RTLD_NEXT, #name); \
  }

// `begin` and `end` are tracepoints around `call`; errno is the call's.
#define TRACED(begin, call, name, result)                               \
  if (!on || inside) return call;                                       \
  inside = 1;                                                           \
  begin;                                                                \
  const __typeof__(call) ret = call;                                    \
  const int error = errno;                                              \
  lttng_ust_tracepoint(dftracer_bench, call_end, name, (long)(result)); \
  inside = 0;                                                           \
  errno = error;                                                        \
  return ret

int open(const char* path, int flags, ...) {
  NEXT(int(const char*, int, ...), open)
  va_list list;
  va_start(list, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(list, int) : 0;
  va_end(list);
  TRACED(lttng_ust_tracepoint(dftracer_bench, open_begin, path, flags), next_open(path, flags, mode), "open", ret);
}

int close(int fd) {
  NEXT(int(int), close)
  TRACED(lttng_ust_tracepoint(dftracer_bench, call_begin, fd, 0), next_close(fd), "close", ret);
}

ssize_t read(int fd, void* data, size_t count) {
  NEXT(ssize_t(int, void*, size_t), read)
  TRACED(lttng_ust_tracepoint(dftracer_bench, call_begin, fd, count), next_read(fd, data, count), "read", ret);
}

ssize_t write(int fd, const void* data, size_t count) {
  NEXT(ssize_t(int, const void*, size_t), write)
  TRACED(lttng_ust_tracepoint(dftracer_bench, call_begin, fd, count), next_write(fd, data, count), "write", ret);
}

size_t fread(void* data, size_t size, size_t count, FILE* stream) {
  NEXT(size_t(void*, size_t, size_t, FILE*), fread)
  TRACED(lttng_ust_tracepoint(dftracer_bench, call_begin, (long)stream, size * count),
         next_fread(data, size, count, stream), "fread", ret);
}

size_t fwrite(const void* data, size_t size, size_t count, FILE* stream) {
  NEXT(size_t(const void*, size_t, size_t, FILE*), fwrite)
  TRACED(lttng_ust_tracepoint(dftracer_bench, call_begin, (long)stream, size * count),
         next_fwrite(data, size, count, stream), "fwrite", ret);
}
