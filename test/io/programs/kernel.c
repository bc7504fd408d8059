/* SPDX-License-Identifier: MIT */
/* S06, S15, S16: files that are reached past libc's calls. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static char bytes[64];

static int opened_unseen(void) {
  struct open_how how = {.flags = O_RDONLY};
  const int old = open("other", O_RDONLY);
  if (read(old, bytes, 8) != 8) return 1;
  close(old);
  const int fd = (int)syscall(SYS_openat2, AT_FDCWD, "in", &how, sizeof how);
  if (fd != old) return 2;
  if (read(fd, bytes, 10) != 10) return 3;
  return close(fd);
}

static int mapped(void) {
  const size_t size = (size_t)16 << 20;
  const int fd = open("map", O_CREAT | O_RDWR, 0600);
  if (ftruncate(fd, (off_t)size) != 0) return 1;
  char* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  for (size_t i = 0; i < size; i += 4096) memory[i] = 1;
  if (msync(memory, size, MS_SYNC) != 0) return 1;
  char* anonymous = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return munmap(anonymous, 4096) || munmap(memory, size) || unlink("map");
}

static int asynchronous(void) {
  aio_context_t context = 0;
  if (syscall(SYS_io_setup, 4, &context) != 0) return 1;
  const int fd = open("in", O_RDONLY);
  struct iocb request = {
      .aio_fildes = (unsigned)fd, .aio_lio_opcode = IOCB_CMD_PREAD, .aio_buf = (unsigned long)bytes, .aio_nbytes = 16};
  struct iocb* list[] = {&request};
  struct io_event done;
  if (syscall(SYS_io_submit, context, 1, list) != 1) return 1;
  if (syscall(SYS_io_getevents, context, 1, 1, &done, NULL) != 1 || done.res != 16) return 1;
  syscall(SYS_io_destroy, context);
  return close(fd);
}

int main(int count, char** words) {
  (void)count;
  if (strcmp(words[1], "openat2") == 0) return opened_unseen();
  if (strcmp(words[1], "mapped") == 0) return mapped();
  return asynchronous();
}
