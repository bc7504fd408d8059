/* SPDX-License-Identifier: MIT */
/* Functions of which libc keeps an older one for programs that were linked long ago; each called both ways. */
#define _GNU_SOURCE
#include <errno.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

__asm__(".symver old_realpath, realpath@GLIBC_2.2.5");
__asm__(".symver old_nftw, nftw@GLIBC_2.2.5");
__asm__(".symver old_fmemopen, fmemopen@GLIBC_2.2.5");
__asm__(".symver old_posix_spawn, posix_spawn@GLIBC_2.2.5");
extern char* old_realpath(const char*, char*);
extern int old_nftw(const char*, __nftw_func_t, int, int);
extern FILE* old_fmemopen(void*, size_t, const char*);
extern int old_posix_spawn(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                           char* const*, char* const*);
typedef FILE* (*Memory)(void*, size_t, const char*);
typedef int (*Spawn)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                     char* const*);

static int visits;
static int visit(const char* path, const struct stat* st, int type, struct FTW* at) {
  (void)path, (void)st, (void)type, (void)at;
  ++visits;
  return FTW_SKIP_SUBTREE; /* the old one takes it for an end */
}

static void names(const char* label, char* (*call)(const char*, char*)) {
  errno = 0;
  char* made = call("/", NULL); /* the old one wants memory */
  printf("%s realpath: %s %d\n", label, made != NULL ? made : "null", made != NULL ? 0 : errno);
  free(made);
}

static void trees(const char* label, int (*call)(const char*, __nftw_func_t, int, int)) {
  visits = 0;
  errno = 0;
  const int end = call(".", visit, 4, FTW_ACTIONRETVAL | FTW_PHYS);
  printf("%s nftw: %d %d %d\n", label, end, visits, end == -1 ? errno : 0);
}

static void memory(const char* label, Memory call) {
  char bytes[16] = "0123456789";
  errno = 0;
  FILE* stream = call(bytes, 0, "r"); /* of no bytes: refused by the old one */
  printf("%s fmemopen: %d %d\n", label, stream != NULL, stream == NULL ? errno : 0);
  if (stream != NULL) fclose(stream);
}

static void scripts(const char* label, Spawn call) {
  FILE* script = fopen("script", "w"); /* without a first line that names its shell: the old one runs one */
  fputs("exit 7\n", script);
  fclose(script);
  chmod("script", 0755);
  pid_t pid = 0;
  int status = 0;
  char* arguments[] = {"script", NULL};
  const int error = call(&pid, "./script", NULL, NULL, arguments, environ);
  if (error == 0) waitpid(pid, &status, 0);
  printf("%s posix_spawn: %d %d\n", label, error, WEXITSTATUS(status));
}

int main(void) {
  names("old", old_realpath);
  names("new", realpath);
  trees("old", old_nftw);
  trees("new", nftw);
  memory("old", old_fmemopen);
  memory("new", fmemopen);
  scripts("old", old_posix_spawn);
  scripts("new", posix_spawn);
  return 0;
}
