/* SPDX-License-Identifier: MIT */
/* S31: vfork with _exit and with exec, in the midst of events; the child may even log. */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "facts.h"
#include "work.h"

int main(void) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  fact("parent", getpid());
  for (int i = 0; i < 300; i++) {
    work_one(i);
    const pid_t child = vfork();
    if (child == 0) {
      if (i & 1) {
        DFTRACER_C_REGION_START(in_vfork_child);
        DFTRACER_C_REGION_END(in_vfork_child);
        execl("/bin/true", "true", (char*)NULL);
      }
      _exit(i & 1 ? 127 : 3);
    }
    int status;
    waitpid(child, &status, 0);
    if (WEXITSTATUS(status) != (i & 1 ? 0 : 3)) {
      printf("bad %d\n", status);
      return 1;
    }
  }
  work(100);
  puts("ok");
  return 0;
}
