/* SPDX-License-Identifier: MIT */
/* wild: pointers that nobody may read, in calls that fail before the kernel has looked at them. */
#define _GNU_SOURCE
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

static void show(const char* call, long result) { printf("%s: %ld, errno %d\n", call, result, errno); }
#define SHOW(call) (errno = 0, show(#call, (long)(call)))

int main(void) {
  char* wild = (char*)8;
  char* const arguments[] = {"true", NULL};
  char* wild_entry[] = {wild, NULL};
  struct statx out;
  SHOW(link("absent", wild));
  SHOW(linkat(AT_FDCWD, "absent", AT_FDCWD, wild, 0));
  SHOW(linkat(AT_FDCWD, wild, AT_FDCWD, wild, -1));
  SHOW(rename("absent", wild));
  SHOW(renameat(AT_FDCWD, wild, AT_FDCWD, wild));
  SHOW(renameat2(AT_FDCWD, wild, AT_FDCWD, wild, -1U));
  SHOW(symlink("", wild));
  SHOW(symlinkat("", -5, wild));
  SHOW(unlinkat(AT_FDCWD, wild, -1));
  SHOW(fchownat(AT_FDCWD, wild, 0, 0, -1));
  SHOW(statx(AT_FDCWD, wild, -1, 0, &out));
  SHOW(statx(AT_FDCWD, wild, AT_EMPTY_PATH | AT_STATX_SYNC_TYPE, 0, &out));
  SHOW(setxattr(".", wild, wild, 1, -1));
  SHOW(getxattr("absent", wild, wild, 1));
  SHOW(readlink(wild, wild, 0));
  SHOW(memfd_create(wild, -1U));
  SHOW(fopen(wild, "?") != NULL);
  SHOW(open(wild, O_TMPFILE | O_RDONLY, 0));
  SHOW(readv(-1, (struct iovec*)wild, 2));
  SHOW(preadv2(0, (struct iovec*)wild, -1, 0, -1));
  SHOW(lio_listio(99, (struct aiocb**)wild, 1, NULL));
  SHOW(execve("absent", (char**)wild, (char**)wild));
  SHOW(execve("/bin/true", arguments, (char**)wild));
  SHOW(execve("/bin/true", arguments, wild_entry));
  SHOW(execvpe("true", arguments, wild_entry));
  SHOW(posix_spawn(NULL, "/bin/true", NULL, NULL, arguments, wild_entry));
  return 0;
}
