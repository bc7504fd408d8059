/* SPDX-License-Identifier: MIT */
/* raw_children clone|_Fork: children that no fork handler sees, whose first act is a name that their parent never had,
   while other threads of the parent add names too. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "work.h"

static volatile int round_number; /* -1: stop */

static void named(const char* prefix, int i) {
#ifndef DFTRACER_DISABLE
  char name[32];
  snprintf(name, sizeof name, "%s%d", prefix, i);
  dftracer_finalize_region(dftracer_initialize_region(name, "RAW", 0));
#endif
}

/* Some hundred names each time that the main thread is about to make a child. */
static void* add_names(void* unused) {
  int seen = 0;
  for (int i = 0; round_number >= 0;) {
    if (round_number == seen) continue;
    seen = round_number;
    for (const int end = i + 300; i < end; i++) named("beside", i);
  }
  return unused;
}

static pid_t make_child(const char* how) {
  if (strcmp(how, "_Fork") == 0) return _Fork();
  return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

int main(int argc, char** argv) {
  (void)argc;
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(10);
  pthread_t beside;
  pthread_create(&beside, NULL, add_names, NULL);
  int died = 0;
  for (int i = 0; i < 100; i++) {
    round_number = i + 1;
    const pid_t child = make_child(argv[1]);
    if (child == 0) {
      alarm(20);
      named("child", i);
      work(10);
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    if (status != 0) died++;
  }
  round_number = -1;
  pthread_join(beside, NULL);
  work(10);
  printf("died %d\n", died);
  return 0;
}
