// SPDX-License-Identifier: MIT
// The untraced loop: what every other figure is taken against.
#include "regions/harness.h"

const char* const bench_backend_name = "bare";
void bench_backend_start(void) {}
void bench_backend_thread_start(void) {}
void bench_backend_finish(void) {}

#define BENCH_REGION_0(i) bench_work(i)
#define BENCH_REGION_4(i)                                                                                    \
  do {                                                                                                       \
    __asm__ volatile("" : : "r"(bench_step(i)), "r"(bench_size(i)), "x"(bench_loss(i)), "r"(bench_file(i))); \
    bench_work(i);                                                                                           \
  } while (0)
#include "regions/loops.h"
