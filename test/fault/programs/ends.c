/* SPDX-License-Identifier: MIT */
/* ends HOW FIRST SECOND: FIRST regions, waits for the test, SECOND regions, and ends without FINI in the way named. */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include "facts.h"
#include "work.h"

static volatile int* nowhere = NULL;

static void by_signal(const char* how) {
  static const struct {
    const char* name;
    int number;
  } signals[] = {{"term", SIGTERM}, {"int", SIGINT}, {"hup", SIGHUP}, {"xcpu", SIGXCPU}, {"usr1", SIGUSR1},
                 {"bus", SIGBUS},   {"fpe", SIGFPE}, {"ill", SIGILL}, {"kill", SIGKILL}, {"quit", SIGQUIT}};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    if (strcmp(how, signals[i].name) == 0) kill(getpid(), signals[i].number);
  }
}

static void* exit_from_thread(void* unused) {
  work(1);
  exit(4);
  return unused;
}

static int end(const char* how) {
  pthread_t thread;
  if (strcmp(how, "return") == 0) return 5;
  if (strcmp(how, "exit") == 0) exit(6);
  if (strcmp(how, "quick_exit") == 0) quick_exit(7);
  if (strcmp(how, "_exit") == 0) _exit(8);
  if (strcmp(how, "_Exit") == 0) _Exit(9);
  if (strcmp(how, "exit_group") == 0) syscall(SYS_exit_group, 10);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "segv") == 0) *nowhere = 1;
  if (strcmp(how, "pthread_exit") == 0) pthread_exit(NULL);
  if (strcmp(how, "thread") == 0) {
    pthread_create(&thread, NULL, exit_from_thread, NULL);
    pthread_join(thread, NULL);
  }
  by_signal(how);
  return 99;
}

int main(int argc, char** argv) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(atoi(argv[2]));
  printf("waiting\n");
  fflush(stdout);
  wait_for_test();
  work(atoi(argv[3]));
  return end(argv[1]);
}
