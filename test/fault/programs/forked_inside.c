/* SPDX-License-Identifier: MIT */
/* forked_inside FORKS: a timer interrupts code that emits; its handler forks, and the child returns into what
   was interrupted, goes on emitting and ends. Nothing of that may kill it. */
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "work.h"

static volatile sig_atomic_t forks;
static volatile sig_atomic_t in_child;
static volatile sig_atomic_t died;

static void on_timer(int number) {
  (void)number;
  const pid_t child = fork();
  if (child == 0) {
    in_child = 1;
    if (forks % 2 == 0) work_one(-1);
    return;
  }
  int status;
  waitpid(child, &status, 0);
  if (status != 0) died++;
  forks++;
}

/* Args with keys of their own, more than fit into the region itself. */
static void long_region(const char* text) {
  DFTRACER_C_REGION_START(longer);
  for (int i = 0; i < 12; i++) {
    char key[24];
    snprintf(key, sizeof key, "key number %d", i);
    DFTRACER_C_REGION_UPDATE_STR(longer, key, text);
  }
  DFTRACER_C_REGION_END(longer);
}

int main(int argc, char** argv) {
  (void)argc;
  const int wanted = atoi(argv[1]);
  char text[101];
  memset(text, 't', 100);
  text[100] = '\0';
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(1);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_timer;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  int i = 0;
  while (forks < wanted) {
    const int before = forks;
    const struct itimerval once = {{0, 0}, {0, 20 + i % 100}};
    setitimer(ITIMER_REAL, &once, NULL);
    while (forks == before) {
      work_one(i++);
      long_region(text);
      if (!in_child) continue;
      work(20000); /* fills the chunk that was interrupted */
      _exit(0);
    }
  }
  printf("died %d\n", (int)died);
  return 0;
}
