/* SPDX-License-Identifier: MIT */
/* S56, S57: nest COUNT THREADS: three regions inside each other around next to nothing. */
#include <pthread.h>

#include "facts.h"
#include "work.h"

static int count;

static void* nest(void* unused) {
  for (int i = 0; i < count; i++) {
    DFTRACER_C_REGION_START(a);
    {
      DFTRACER_C_REGION_START(b);
      {
        DFTRACER_C_REGION_START(c);
        DFTRACER_C_REGION_END(c);
      }
      DFTRACER_C_REGION_END(b);
    }
    DFTRACER_C_REGION_END(a);
  }
  return unused;
}

int main(int argc, char** argv) {
  pthread_t threads[16];
  const int extra = atoi(argv[2]) - 1;
  count = atoi(argv[1]);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  for (int i = 0; i < extra; i++) pthread_create(&threads[i], NULL, nest, NULL);
  nest(NULL);
  for (int i = 0; i < extra; i++) pthread_join(threads[i], NULL);
  puts("ok");
  return 0;
}
