// SPDX-License-Identifier: MIT
// Purpose: what the measuring program (harness.c) asks of a back end. One executable = harness + one back end, so that
//          every tracer runs the same loops on the same threads and is measured by the same readings.
// Threads: bench_loop_* run on the application threads that are measured; the rest on the main thread.
#pragma once

#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

extern const char* const bench_backend_name;
void bench_backend_start(void);         // before any thread exists
void bench_backend_thread_start(void);  // on each thread, before its first region
void bench_backend_finish(void);        // everything recorded is handed over or written

// Regions that took long, told apart by why: the thread gave up the processor itself (it waited for the tracer), or it
// was preempted (which happens to any program on a busy machine); both at once count as neither.
struct bench_waits {
  uint64_t threshold;  // ticks; shorter regions are not looked at
  uint64_t longest;    // ticks, waits of the thread's own
  uint64_t longest_preempted;
  uint64_t waits;
  long voluntary_switches, involuntary_switches;
};
void bench_slow_region(struct bench_waits* waits, uint64_t ticks);

// `count` regions numbered from `from`, without args and with four (two ints, a double, a short string).
void bench_loop_0(uint64_t from, uint64_t count);
void bench_loop_4(uint64_t from, uint64_t count);
void bench_watched_loop_0(uint64_t from, uint64_t count, struct bench_waits* waits);
void bench_watched_loop_4(uint64_t from, uint64_t count, struct bench_waits* waits);

static inline uint64_t bench_ticks(void) {
#if defined(__x86_64__)
  return __rdtsc();
#else
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

extern const char* const bench_names[8];
static inline int bench_step(uint64_t i) { return (int)(i & 0xffff); }
static inline int bench_size(uint64_t i) { return (int)((i * 4096) & 0xfffff); }
static inline double bench_loss(uint64_t i) { return (double)(i & 1023) * 0.125; }
static inline const char* bench_file(uint64_t i) { return bench_names[i & 7]; }

// The traced work: nothing, but the compiler may not know it.
static inline void bench_work(uint64_t i) { __asm__ volatile("" : : "r"(i) : "memory"); }

#ifdef __cplusplus
}
#endif
