/* SPDX-License-Identifier: MIT */
/* killed COUNTERS THREADS PAUSE_US: logs for ever and counts in a shared file what it has logged, thread by thread,
   until it is killed. Region k of a thread carries n = k; the counter is raised after the region is closed. */
#include <pthread.h>

#include "facts.h"
#include "work.h"

static volatile unsigned long* counters;
static int pause_us;

static void* logger(void* number) {
  volatile unsigned long* counter = &counters[(long)number];
  for (int n = 0;; n++) {
    DFTRACER_C_REGION_START(step);
    DFTRACER_C_REGION_UPDATE_INT(step, "n", n);
    DFTRACER_C_REGION_UPDATE_INT(step, "thread", (int)(long)number);
    DFTRACER_C_REGION_END(step);
    *counter = (unsigned long)n + 1;
    if (pause_us > 0 && n % 16 == 0) usleep((unsigned)pause_us);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = atoi(argv[2]);
  pthread_t others[16];
  pause_us = atoi(argv[argc - 1]);
  counters = shared_counters(argv[1], 16);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  for (long i = 1; i < threads; i++) pthread_create(&others[i], NULL, logger, (void*)i);
  logger(NULL);
  return 0;
}
