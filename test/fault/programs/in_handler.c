/* SPDX-License-Identifier: MIT */
/* in_handler CALLS [fork]: an interval timer of 100 us interrupts code that emits; the handler emits too, and with
   `fork` some of its calls fork a child that emits and ends. */
#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "facts.h"
#include "work.h"

static volatile sig_atomic_t calls;
static int forks;

static void on_timer(int number) {
  const int saved = errno;
  DFTRACER_C_REGION_START(handled);
  DFTRACER_C_REGION_UPDATE_INT(handled, "signal", number);
  DFTRACER_C_REGION_END(handled);
  calls++;
  if (forks && calls % 100 == 0) {
    const pid_t child = fork();
    if (child == 0) {
      DFTRACER_C_REGION_START(forked);
      DFTRACER_C_REGION_END(forked);
      _exit(0);
    }
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) abort();
  }
  errno = saved;
}

int main(int argc, char** argv) {
  const int wanted = atoi(argv[1]);
  forks = argc > 2;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_timer;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  struct itimerval every = {{0, 100}, {0, 100}};
  setitimer(ITIMER_REAL, &every, NULL);
  int regions = 0;
  while (calls < wanted) {
    errno = 12345;
    work_one(regions++);
    if (errno != 12345) {
      puts("errno moved");
      return 1;
    }
    for (int i = 0; i < 40; i++) free(malloc(100 + i));
  }
  memset(&every, 0, sizeof every);
  setitimer(ITIMER_REAL, &every, NULL);
  fact("handled", calls);
  fact("work", regions);
  fact("pid", getpid());
  puts("ok");
  return 0;
}
