// SPDX-License-Identifier: MIT
// uftrace: a region is a function, compiled with -pg and run under `uftrace record`, which records its entry and exit;
// the four args are named to it on its command line (measure/backends.py).
#include "regions/harness.h"

const char* const bench_backend_name = "uftrace";
__attribute__((no_instrument_function)) void bench_backend_start(void) {}
__attribute__((no_instrument_function)) void bench_backend_thread_start(void) {}
__attribute__((no_instrument_function)) void bench_backend_finish(void) {}

__attribute__((noinline, noclone)) void region_0(uint64_t i) { bench_work(i); }
__attribute__((noinline, noclone)) void region_4(int step, int size, const char* file, double loss) {
  __asm__ volatile("" : : "r"(step), "r"(size), "r"(file), "x"(loss) : "memory");
}

#define BENCH_REGION_0(i) region_0(i)
#define BENCH_REGION_4(i) region_4(bench_step(i), bench_size(i), bench_file(i), bench_loss(i))
#include "regions/loops.h"
