/* SPDX-License-Identifier: MIT */
/* S07 to S09: sizes, offsets and results. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static char bytes[8192];

static int vectors(void) {
  struct iovec parts[] = {{bytes, 100}, {bytes + 100, 0}, {bytes + 200, 28}};
  const int fd = open("out", O_RDWR | O_CREAT | O_TRUNC, 0600);
  printf("%zd\n", pwritev(fd, parts, 3, 4096));
  printf("%zd\n", pwritev2(fd, parts, 3, 0, 0));
  printf("%zd %ld\n", preadv2(fd, parts, 3, -1, 0), (long)lseek(fd, 0, SEEK_CUR));
  printf("%zd\n", preadv(fd, parts, 3, 4200));
  printf("%zd\n", writev(fd, parts, 3));
  int ends[2];
  if (pipe(ends) != 0) return 1;
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const ssize_t got = readv(ends[0], parts, 3);
  printf("%zd %d\n", got, errno == EAGAIN);
  return close(fd);
}

static int offsets(void) {
  const int fd = open("out", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (write(fd, bytes, 100) != 100) return 1;
  if (pwrite(fd, bytes, 10, (off_t)1 << 31) != 10) return 1;
  if (write(fd, bytes, 100) != 100 || lseek(fd, 0, SEEK_CUR) != 200) return 1;
  return close(fd);
}

static int ends(void) {
  const int fd = open("out", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (write(fd, bytes, 10) != 10 || lseek(fd, 0, SEEK_SET) != 0) return 1;
  for (int i = 0; i < 5; i++) printf("%zd ", read(fd, bytes, 4));
  if (read(fd, (void*)8, 4) != 0) return 1; /* end of file: the address is not looked at */
  lseek(fd, 0, SEEK_SET);
  if (read(fd, (void*)8, 4) != -1 || errno != EFAULT) return 1;
  close(fd);
  if (read(fd, bytes, 4) != -1 || errno != EBADF) return 1;
  if (open("missing/x", O_RDONLY) != -1 || errno != ENOENT) return 1;
  if (open((char*)8, O_RDONLY) != -1 || errno != EFAULT) return 1;
  puts("ok");
  return 0;
}

int main(int count, char** words) {
  (void)count;
  if (strcmp(words[1], "vectors") == 0) return vectors();
  if (strcmp(words[1], "offsets") == 0) return offsets();
  return ends();
}
