/* SPDX-License-Identifier: MIT */
/* zone_forks CHILDREN: forks while other threads are inside libc's time zone code, whose lock libc does not release in
   a child. A child that hangs on it is killed by its alarm and seen in its status. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

#include "facts.h"
#include "work.h"

static atomic_int stop;

static void* reader(void* unused) {
  while (!atomic_load(&stop)) {
    const time_t now = time(NULL);
    struct tm parts;
    localtime_r(&now, &parts);
  }
  return unused;
}

int main(int argc, char** argv) {
  const int children = argc > 1 ? atoi(argv[1]) : 0;
  pthread_t readers[2];
  int bad = 0;
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(10);
  for (int i = 0; i < 2; i++) pthread_create(&readers[i], NULL, reader, NULL);
  for (int i = 0; i < children; i++) {
    const pid_t pid = fork();
    if (pid < 0) abort();
    if (pid == 0) {
      alarm(20);
      DFTRACER_C_REGION_START(in_child);
      DFTRACER_C_REGION_END(in_child);
      exit(0);
    }
  }
  for (int i = 0; i < children; i++) {
    int status;
    if (wait(&status) < 0) abort();
    bad += status != 0;
  }
  atomic_store(&stop, 1);
  for (int i = 0; i < 2; i++) pthread_join(readers[i], NULL);
  printf("%d children, %d bad\n", children, bad);
  return 0;
}
