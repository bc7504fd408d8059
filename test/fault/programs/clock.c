/* SPDX-License-Identifier: MIT */
/* clock STEP: a region of half a second, with the wall clock stepped in its middle when the shim is there; thousands of
   short ones; and a thread that moves from processor to processor. */
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>

#include "facts.h"
#include "work.h"

static long wall_us(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static long monotonic_us(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void half_a_second(const char* step) {
  const struct timespec quarter = {0, 250000000};
  const long wall = wall_us(), begin = monotonic_us();
  DFTRACER_C_REGION_START(half);
  nanosleep(&quarter, NULL);
  if (step != NULL) close(open(step, O_CREAT | O_WRONLY, 0600));
  nanosleep(&quarter, NULL);
  DFTRACER_C_REGION_END(half);
  fact("wall_us", wall);
  fact("monotonic_us", monotonic_us() - begin);
}

static void migrating(void) {
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof all, &all);
  for (int i = 0; i < 200; i++) {
    const int cpu = i % CPU_SETSIZE;
    CPU_ZERO(&one);
    CPU_SET(i % 2, &one);
    if (cpu < CPU_SETSIZE && CPU_ISSET(i % 2, &all)) sched_setaffinity(0, sizeof one, &one);
    DFTRACER_C_REGION_START(outer);
    work_one(i);
    DFTRACER_C_REGION_END(outer);
  }
  sched_setaffinity(0, sizeof all, &all);
}

int main(int argc, char** argv) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  half_a_second(argc > 1 ? argv[1] : NULL);
  migrating();
  for (int i = 0; i < 1000; i++) {
    DFTRACER_C_REGION_START(tiny);
    DFTRACER_C_REGION_END(tiny);
  }
  DFTRACER_C_FINI();
  puts("ok");
  return 0;
}
