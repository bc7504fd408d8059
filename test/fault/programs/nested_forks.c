/* SPDX-License-Identifier: MIT */
/* nested_forks DEPTH exit|_exit: a child of a child of a child, each with its own events. */
#include <sys/wait.h>

#include "facts.h"
#include "work.h"

static int generation(int depth, int left, const char* how) {
  char key[32];
  snprintf(key, sizeof key, "pid%d", depth);
  fact(key, getpid());
  for (int i = 0; i < 100 + depth; i++) {
    DFTRACER_C_REGION_START(generation);
    DFTRACER_C_REGION_UPDATE_INT(generation, "depth", depth);
    DFTRACER_C_REGION_END(generation);
  }
  if (left == 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    const int status = generation(depth + 1, left - 1, how);
    if (strcmp(how, "_exit") == 0) _exit(status);
    exit(status);
  }
  int status;
  waitpid(child, &status, 0);
  DFTRACER_C_REGION_START(afterwards);
  DFTRACER_C_REGION_END(afterwards);
  return WIFEXITED(status) ? WEXITSTATUS(status) + 1 : 99;
}

int main(int argc, char** argv) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  return generation(0, atoi(argv[1]), argv[argc - 1]);
}
