/* SPDX-License-Identifier: MIT */
/* What a test program tells its test: lines "key value" in the file that DFT_FACTS names. One write a line, so that
   threads and children may call it at any time. Shared counters: what a killed program leaves behind. */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void fact(const char* key, long value) {
  const char* path = getenv("DFT_FACTS");
  if (path == NULL) return;
  char line[256];
  const int size = snprintf(line, sizeof line, "%s %ld\n", key, value);
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  if (write(fd, line, (size_t)size) != size) abort();
  close(fd);
}

static inline long my_tid(void) { return syscall(SYS_gettid); }

/* Most memory that this program image has had at once. Not getrusage: that counts what came before exec. */
static inline long peak_kib(void) {
  char line[256];
  long peak = -1;
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) sscanf(line, "VmHWM: %ld", &peak);
  if (status != NULL) fclose(status);
  return peak;
}

/* `count` counters in a file that outlives the process, however it ends. */
static inline volatile unsigned long* shared_counters(const char* path, size_t count) {
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, (off_t)(count * sizeof(unsigned long))) != 0) abort();
  void* memory = mmap(NULL, count * sizeof(unsigned long), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) abort();
  close(fd);
  return (volatile unsigned long*)memory;
}

/* A step that the test releases: one byte on stdin. */
static inline void wait_for_test(void) {
  char byte;
  if (read(0, &byte, 1) < 0) abort();
}
