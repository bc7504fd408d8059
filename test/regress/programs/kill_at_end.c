/* SPDX-License-Identifier: MIT */
/* S33: kill_at_end COUNT DELAY_US: a second process kills this one so long after main has returned. */
#include <signal.h>
#include <sys/wait.h>

#include "facts.h"
#include "work.h"

int main(int argc, char** argv) {
  int ends[2];
  const pid_t victim = getpid();
  if (pipe(ends) != 0) return 1;
  if (fork() == 0) {
    char byte;
    if (read(ends[0], &byte, 1) != 1) _exit(1);
    usleep((unsigned)atoi(argv[2]));
    kill(victim, SIGKILL);
    _exit(0);
  }
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(atoi(argv[1]));
  puts("end of main");
  fflush(stdout);
  return write(ends[1], "x", 1) == 1 ? 0 : 1;
}
