/* SPDX-License-Identifier: MIT */
/* S75: late_init: threads that are older than the tracer; each event carries the kernel id of the thread that made it.
 */
#include <pthread.h>

#include "facts.h"
#include "work.h"

static pthread_barrier_t barrier;

static void* thread_main(void* unused) {
  pthread_barrier_wait(&barrier); /* all threads are there */
  pthread_barrier_wait(&barrier); /* and now the tracer is too */
  for (int i = 0; i < 100; i++) {
    DFTRACER_C_REGION_START(old_thread);
    DFTRACER_C_REGION_UPDATE_INT(old_thread, "tid", (int)my_tid());
    DFTRACER_C_REGION_END(old_thread);
  }
  return unused;
}

int main(void) {
  pthread_t threads[3];
  pthread_barrier_init(&barrier, NULL, 4);
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, thread_main, NULL);
  pthread_barrier_wait(&barrier);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  puts("ok");
  return 0;
}
