/* SPDX-License-Identifier: MIT */
/* thread_storm THREADS: short threads, 16 at a time. Each logs one region, and more from the destructor of a
   thread-specific value, in every round that the C library grants (the tracer's own destructor has run by then). */
#include <limits.h>
#include <pthread.h>

#include "facts.h"
#include "work.h"

enum { kAtOnce = 16 };

static pthread_key_t key;
static __thread int rounds;

static void at_thread_exit(void* value) {
  DFTRACER_C_REGION_START(late);
  DFTRACER_C_REGION_UPDATE_INT(late, "tid", (int)my_tid());
  DFTRACER_C_REGION_END(late);
  if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS) pthread_setspecific(key, value);
}

static void* thread_main(void* value) {
  DFTRACER_C_REGION_START(short_thread);
  DFTRACER_C_REGION_UPDATE_INT(short_thread, "tid", (int)my_tid());
  DFTRACER_C_REGION_END(short_thread);
  pthread_setspecific(key, value);
  return NULL;
}

int main(int argc, char** argv) {
  const int wanted = atoi(argv[argc - 1]);
  pthread_t threads[kAtOnce];
  DFTRACER_C_INIT(NULL, NULL, NULL);
  pthread_key_create(&key, at_thread_exit);
  for (int done = 0; done < wanted; done += kAtOnce) {
    for (int i = 0; i < kAtOnce; i++) {
      if (pthread_create(&threads[i], NULL, thread_main, (void*)1) != 0) abort();
    }
    for (int i = 0; i < kAtOnce; i++) pthread_join(threads[i], NULL);
  }
  fact("rounds", PTHREAD_DESTRUCTOR_ITERATIONS);
  puts("ok");
  return 0;
}
