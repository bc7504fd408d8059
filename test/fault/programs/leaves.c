/* SPDX-License-Identifier: MIT */
/* leaves: logs, changes the directory, logs, and starts the program named by its arguments from there. */
#include <sys/wait.h>

#include "facts.h"
#include "work.h"

int main(int argc, char** argv) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(10);
  if (chdir("/") != 0) return 1;
  work(10);
  const pid_t forked = fork();
  if (forked == 0) {
    work(5);
    exit(0);
  }
  waitpid(forked, NULL, 0);
  if (argc > 1) {
    const pid_t child = fork();
    if (child == 0) {
      execv(argv[1], argv + 1);
      _exit(1);
    }
    int status;
    waitpid(child, &status, 0);
    printf("%d\n", status);
  }
  printf("done\n");
  return 0;
}
