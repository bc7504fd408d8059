/* SPDX-License-Identifier: MIT */
/* S01 to S05: calls that other builds make under other names. Files stand in the current directory. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int __xstat(int version, const char* path, struct stat* out);
int __fxstat(int version, int fd, struct stat* out);
int __lxstat(int version, const char* path, struct stat* out);

static int number(const char* name, int otherwise) {
  const char* text = getenv(name);
  return text != NULL ? atoi(text) : otherwise;
}

/* Flags and sizes that the compiler does not know select the checked entry points. */
static int hidden(void) {
  char buffer[64];
  const int flags = number("FL", O_RDONLY);
  const size_t size = (size_t)number("N", 32);
  int fd = open("in", flags);
  if (fd < 0) return 1;
  for (int i = 0; i < 3; i++) {
    if (read(fd, buffer, size) < 0) return 1;
  }
  if (pread(fd, buffer, size, 5) < 0) return 1;
  close(fd);
  fd = openat(AT_FDCWD, "in", flags);
  if (readlink("link", buffer, size) < 0) return 1;
  return close(fd);
}

static int aliases(void) {
  char one[] = "oneXXXXXX", two[] = "twoXXXXXX", three[] = "threeXXXXXX.t", four[] = "fourXXXXXX.t";
  close(mkstemp(one));
  close(mkostemp(two, O_CLOEXEC));
  close(mkstemps(three, 2));
  const int fd = mkostemps(four, 2, O_CLOEXEC);
  FILE* shown = fopen("temporary", "w");
  fprintf(shown, "%s\n%s\n%s\n%s\n", one, two, three, four);
  shown = freopen("temporary", "r", shown);
  fseeko(shown, 3, SEEK_SET);
  fclose(shown);
  fclose(tmpfile());
  if (write(fd, "0123456789", 10) != 10) return 1;
  lseek(fd, 4, SEEK_SET);
  if (ftruncate(fd, 8) != 0) return 1;
  posix_fallocate(fd, 0, 4096);
  void* memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
  munmap(memory, 4096);
  close(fd);
  for (int i = 0; i < 4; i++) unlink((char*[]){one, two, three, four}[i]);
  unlink("temporary");
  return 0;
}

static int same_file(const struct stat* one, const struct stat* other) {
  return one->st_ino == other->st_ino && one->st_size == other->st_size && one->st_mode == other->st_mode;
}

static int stats(void) {
  struct stat plain, old;
  const int fd = open("in", O_RDONLY);
  if (stat("in", &plain) || __xstat(1, "in", &old) || !same_file(&plain, &old)) return 1;
  if (lstat("in", &plain) || __lxstat(1, "in", &old) || !same_file(&plain, &old)) return 2;
  if (fstat(fd, &plain) || __fxstat(1, fd, &old) || !same_file(&plain, &old)) return 3;
  if (fstatat(AT_FDCWD, "in", &plain, 0) || !same_file(&plain, &old)) return 4;
  struct statx more;
  if (statx(AT_FDCWD, "in", 0, STATX_BASIC_STATS, &more)) return 5;
  if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &more) || more.stx_size != (unsigned long long)plain.st_size)
    return 6;
  return close(fd);
}

int main(int count, char** words) {
  (void)count;
  if (strcmp(words[1], "hidden") == 0) return hidden();
  if (strcmp(words[1], "aliases") == 0) return aliases();
  return stats();
}
