/* SPDX-License-Identifier: MIT */
/* S23: forks three times; one child ends by _exit, one by execve, one by exit. */
#include <sys/wait.h>

#include "facts.h"
#include "work.h"

extern char** environ;

int main(void) {
  char* arguments[] = {(char*)"true", NULL};
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(10);
  for (int i = 0; i < 3; i++) {
    const pid_t child = fork();
    if (child == 0) {
      work(10);
      if (i == 0) _exit(0);
      if (i == 1) execve("/bin/true", arguments, environ);
      exit(i == 1);
    }
    int status;
    waitpid(child, &status, 0);
    printf("%d\n", status);
  }
  return 0;
}
