/* SPDX-License-Identifier: MIT */
/* fork_handlers: fork handlers of the application have events, with names that were not seen before. */
#include <pthread.h>
#include <sys/wait.h>

#include "facts.h"
#include "work.h"

static void prepare(void) {
  DFTRACER_C_REGION_START(in_prepare);
  DFTRACER_C_REGION_END(in_prepare);
}
static void in_parent(void) {
  DFTRACER_C_REGION_START(in_parent_handler);
  DFTRACER_C_REGION_END(in_parent_handler);
}
static void in_child(void) {
  alarm(20);
  DFTRACER_C_REGION_START(in_child_handler);
  DFTRACER_C_REGION_END(in_child_handler);
}

int main(void) {
  alarm(40);
  pthread_atfork(prepare, in_parent, in_child);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(10);
  const pid_t pid = fork();
  if (pid == 0) {
    work(20);
    exit(0);
  }
  int status;
  if (waitpid(pid, &status, 0) != pid) abort();
  fact("parent", getpid());
  fact("child", pid);
  printf("%d\n", status);
  return 0;
}
