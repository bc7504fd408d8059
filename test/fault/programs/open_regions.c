/* SPDX-License-Identifier: MIT */
/* open_regions: regions that are open when the process forks and when it ends. */
#include <sys/wait.h>

#include "facts.h"
#include "work.h"

int main(void) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  fact("parent", getpid());
  DFTRACER_C_REGION_START(across_fork);
  DFTRACER_C_REGION_START(left_open);
  work(10);
  const pid_t child = fork();
  if (child == 0) {
    fact("child", getpid());
    work(20);
    DFTRACER_C_REGION_END(across_fork);
    exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  printf("%d\n", status);
  DFTRACER_C_REGION_END(across_fork);
  exit(0); /* left_open stays open */
}
