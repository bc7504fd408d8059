/* SPDX-License-Identifier: MIT */
/* fork_storm CHILDREN THREADS WORK exit|_exit|return: forks while other threads log; every child logs and ends. A child
   that hangs on something its parent held is killed by its alarm and seen in its status. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "facts.h"
#include "work.h"

static atomic_int stop;
static atomic_long logged;

static void* logger(void* unused) {
  long count = 0;
  while (!atomic_load(&stop)) {
    DFTRACER_C_REGION_START(beside);
    DFTRACER_C_REGION_END(beside);
    if (++count % 16 == 0) usleep(2000);
  }
  atomic_fetch_add(&logged, count);
  return unused;
}

static void child(int amount, const char* how) {
  alarm(20);
  for (int i = 0; i < amount; i++) {
    DFTRACER_C_REGION_START(in_child);
    DFTRACER_C_REGION_UPDATE_INT(in_child, "pid", getpid());
    DFTRACER_C_REGION_END(in_child);
  }
  if (strcmp(how, "_exit") == 0) _exit(0);
  exit(0);
}

int main(int argc, char** argv) {
  const int children = atoi(argv[1]), threads = atoi(argv[2]), amount = atoi(argv[3]);
  pthread_t loggers[16];
  int bad = 0;
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(10);
  for (int i = 0; i < threads; i++) pthread_create(&loggers[i], NULL, logger, NULL);
  for (int done = 0, running = 0; done < children || running > 0;) {
    if (done < children && running < 8) {
      const pid_t pid = fork();
      if (pid < 0) abort();
      if (pid == 0) child(amount, argv[argc - 1]);
      done++;
      running++;
      continue;
    }
    int status;
    if (wait(&status) < 0) abort();
    running--;
    bad += status != 0;
  }
  atomic_store(&stop, 1);
  for (int i = 0; i < threads; i++) pthread_join(loggers[i], NULL);
  fact("beside", atomic_load(&logged));
  fact("pid", getpid());
  printf("%d children, %d bad\n", children, bad);
  return 0;
}
