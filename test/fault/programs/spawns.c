/* SPDX-License-Identifier: MIT */
/* spawns SELF-LESS: starts children in every way there is; each child is this program with the argument `child`. */
#define _GNU_SOURCE
#include <spawn.h>
#include <sys/wait.h>

#include "facts.h"
#include "work.h"

extern char** environ;

static int as_child(const char* how) {
  fact("child", getpid());
  work(20);
  printf("child by %s\n", how);
  return 0;
}

static void wait_for(pid_t child) {
  int status;
  if (waitpid(child, &status, 0) != child || status != 0) printf("bad status %d\n", status);
}

int main(int argc, char** argv) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  if (argc == 3) return as_child(argv[2]);
  char line[4096];
  pid_t child;
  work(10);
  fact("parent", getpid());
  char* arguments[] = {argv[0], (char*)"child", (char*)"posix_spawn", NULL};
  if (posix_spawn(&child, argv[0], NULL, NULL, arguments, environ) == 0) wait_for(child);
  arguments[2] = (char*)"posix_spawnp";
  if (posix_spawnp(&child, argv[0], NULL, NULL, arguments, environ) == 0) wait_for(child);
  printf("%d\n", posix_spawn(&child, "/no/such/program", NULL, NULL, arguments, environ));
  fflush(stdout);
  snprintf(line, sizeof line, "'%s' child system", argv[0]);
  printf("%d\n", system(line));
  snprintf(line, sizeof line, "'%s' child popen", argv[0]);
  FILE* pipe = popen(line, "r");
  while (fgets(line, sizeof line, pipe) != NULL) fputs(line, stdout);
  printf("%d\n", pclose(pipe));
  fflush(stdout);
  child = vfork();
  if (child == 0) {
    execl(argv[0], argv[0], "child", "vfork", (char*)NULL);
    _exit(1);
  }
  wait_for(child);
  child = fork();
  if (child == 0) {
    execl(argv[0], argv[0], "child", "fork", (char*)NULL);
    _exit(1);
  }
  wait_for(child);
  work(10);
  return 0;
}
