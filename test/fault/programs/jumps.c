/* SPDX-License-Identifier: MIT */
/* jumps: a timer is over while the first call starts the recording; its handler leaves by siglongjmp, as a program does
   that waits for no slow call longer than it wants to. What follows is recorded. */
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "facts.h"
#include "work.h"

static sigjmp_buf back;

static void leave(int number) {
  (void)number;
  siglongjmp(back, 1);
}

int main(void) {
  const struct itimerval soon = {{0, 0}, {0, 100}};
  signal(SIGALRM, leave);
  if (sigsetjmp(back, 1) == 0) {
    setitimer(ITIMER_REAL, &soon, NULL);
    access("/", F_OK);
    DFTRACER_C_INIT(NULL, NULL, NULL);
    for (;;) {
    }
  }
  for (int i = 0; i < 1000; i++) access("/", R_OK);
  puts("left");
  return 0;
}
