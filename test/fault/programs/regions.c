/* SPDX-License-Identifier: MIT */
/* regions COUNT [THREADS [fini|open]]: COUNT regions in each thread, the main thread being the first. */
#include <pthread.h>

#include "facts.h"
#include "work.h"

static int count;

static void* thread_main(void* unused) {
  work(count);
  fact("tid", my_tid());
  return unused;
}

int main(int argc, char** argv) {
  count = atoi(argv[1]);
  const int threads = argc > 2 ? atoi(argv[2]) : 1;
  const int fini = argc <= 3 || strcmp(argv[3], "fini") == 0;
  pthread_t others[64];
  DFTRACER_C_INIT(NULL, NULL, NULL);
  fact("pid", getpid());
  for (int i = 1; i < threads; i++) {
    if (pthread_create(&others[i], NULL, thread_main, NULL) != 0) abort();
  }
  thread_main(NULL);
  for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
  if (fini) DFTRACER_C_FINI();
  fact("peak_kib", peak_kib());
  printf("%d regions in %d threads\n", count, threads);
  fprintf(stderr, "the end\n");
  return 0;
}
