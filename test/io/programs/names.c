/* SPDX-License-Identifier: MIT */
/* S14, S19, S54: what a name means. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int below_directories(void) {
  mkdir("dir", 0700);
  const int dir = open("dir", O_PATH | O_DIRECTORY);
  struct stat info;
  close(openat(dir, "a", O_CREAT | O_WRONLY, 0600));
  mkdirat(dir, "sub", 0700);
  renameat(dir, "a", dir, "sub/b");
  if (fstatat(dir, "sub/b", &info, 0) != 0 || faccessat(dir, "sub/../sub/./b", R_OK, 0) != 0) return 1;
  unlinkat(dir, "sub/b", 0);
  unlinkat(dir, "sub", AT_REMOVEDIR);
  close(openat(AT_FDCWD, "here", O_CREAT | O_WRONLY, 0600));
  unlink("here");
  if (chdir("dir") != 0) return 1;
  close(open("moved", O_CREAT | O_WRONLY, 0600));
  unlink("moved");
  close(dir);
  if (openat(dir, "closed", O_RDONLY) != -1 || errno != EBADF) return 1;
  return chdir("..") || rmdir("dir");
}

static int modes(void) {
  struct stat info;
  const int wanted[] = {0600, 0644, 0666, 0640};
  umask(0);
  for (int i = 0; i < 4; i++) {
    const int fd = open(".", O_TMPFILE | O_RDWR, wanted[i]);
    if (fd < 0) return perror("O_TMPFILE"), 1;
    fstat(fd, &info);
    printf("%o\n", info.st_mode & 07777);
    if (write(fd, "x", 1) != 1) return 1;
    close(fd);
  }
  const int fd = openat(AT_FDCWD, "s19", O_CREAT | O_RDWR, 0604);
  fstat(fd, &info);
  printf("%o\n", info.st_mode & 07777);
  return close(creat("s19-creat", 0631)) || close(fd);
}

/* Names of 4095 bytes and more, and directories deeper than that. */
static int lengths(void) {
  char name[6000];
  for (size_t size = 4000; size < sizeof name - 1; size += 95) {
    memset(name, 'x', size);
    for (size_t i = 0; i < size; i += 200) name[i] = '/';
    name[size] = '\0';
    if (open(name, O_RDONLY) != -1) return 1;
    printf("%zu %d\n", size, errno == ENAMETOOLONG);
  }
  char part[256];
  for (int i = 0; i < 127; i++) memcpy(part + 2 * i, "\303\251", 2);
  part[254] = '\0';
  for (int i = 0; i < 20; i++) {
    if (mkdir(part, 0700) != 0 || chdir(part) != 0) return perror("deep"), 1;
  }
  const int fd = open("deep", O_CREAT | O_WRONLY, 0600);
  if (fd < 0 || write(fd, "x", 1) != 1) return 1;
  close(fd);
  unlink("deep");
  for (int i = 0; i < 20; i++) {
    if (chdir("..") != 0 || rmdir(part) != 0) return perror("back"), 1;
  }
  return 0;
}

int main(int count, char** words) {
  (void)count;
  if (strcmp(words[1], "directories") == 0) return below_directories();
  if (strcmp(words[1], "modes") == 0) return modes();
  return lengths();
}
