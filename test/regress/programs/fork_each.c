/* SPDX-License-Identifier: MIT */
/* S29: events that sit in the parent's buffer at fork stay the parent's, once. */
#include <sys/wait.h>

#include "facts.h"
#include "work.h"

int main(int argc, char** argv) {
  const char* how = argv[argc - 1];
  DFTRACER_C_INIT(NULL, NULL, NULL);
  fact("parent", getpid());
  work(500);
  for (int i = 0; i < 4; i++) {
    if (fork() == 0) {
      fact("child", getpid());
      for (int k = 0; k < 100 + i; k++) {
        DFTRACER_C_REGION_START(in_child);
        DFTRACER_C_REGION_UPDATE_INT(in_child, "child", i);
        DFTRACER_C_REGION_END(in_child);
      }
      if (strcmp(how, "_exit") == 0) _exit(0);
      if (strcmp(how, "fini") == 0) {
        DFTRACER_C_FINI();
        _exit(0);
      }
      exit(0);
    }
  }
  for (int i = 0; i < 4; i++) wait(NULL);
  work(50);
  puts("ok");
  return 0;
}
