/* SPDX-License-Identifier: MIT */
/* moved directory | moved nameless: what becomes of names when a directory moves under its descriptor and the working
 * directory changes, and of a file that gets its name late. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int directory(void) {
  if (mkdir("old", 0700) != 0 || mkdir("old/sub", 0700) != 0) return 1;
  const int dir = open("old", O_RDONLY | O_DIRECTORY);
  if (rename("old", "new") != 0) return 2;
  const int file = openat(dir, "file", O_CREAT | O_RDWR, 0600);
  if (write(file, "0123456789", 10) != 10 || chdir("new/sub") != 0) return 3;
  const int here = openat(AT_FDCWD, "here", O_CREAT | O_RDWR, 0600);
  if (write(here, "01234", 5) != 5 || close(here) != 0 || fchdir(dir) != 0) return 4;
  if (close(open("above", O_CREAT | O_WRONLY, 0600)) != 0) return 5;
  if (renameat(dir, "file", dir, "renamed") != 0 || write(file, "x", 1) != 1) return 6;
  if (unlinkat(dir, "renamed", 0) != 0 || write(file, "xy", 2) != 2) return 7;
  return close(file) || close(dir);
}

static int nameless(void) {
  char name[64], back[16];
  const int fd = open(".", O_TMPFILE | O_RDWR, 0600);
  if (fd < 0) return 77;  // not every file system can
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  if (write(fd, "01234", 5) != 5 || linkat(AT_FDCWD, name, AT_FDCWD, "late", AT_SYMLINK_FOLLOW) != 0) return 1;
  if (write(fd, "56", 2) != 2 || close(fd) != 0) return 2;
  const int again = open("late", O_RDONLY);
  return read(again, back, sizeof back) != 7 || close(again);
}

int main(int argc, char** argv) { return argc != 2 || (strcmp(argv[1], "directory") == 0 ? directory() : nameless()); }
