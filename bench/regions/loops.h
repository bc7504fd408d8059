// SPDX-License-Identifier: MIT
// Purpose: defines the loops of harness.h for one back end. The including file defines the statements
//          BENCH_REGION_0(i) and BENCH_REGION_4(i) first; they are expanded in place, as in an annotated program.
#include "regions/harness.h"

__attribute__((noinline)) void bench_loop_0(uint64_t from, uint64_t count) {
  for (uint64_t i = from; i < from + count; ++i) {
    BENCH_REGION_0(i);
  }
}

__attribute__((noinline)) void bench_loop_4(uint64_t from, uint64_t count) {
  for (uint64_t i = from; i < from + count; ++i) {
    BENCH_REGION_4(i);
  }
}

__attribute__((noinline)) void bench_watched_loop_0(uint64_t from, uint64_t count, struct bench_waits* waits) {
  for (uint64_t i = from; i < from + count; ++i) {
    const uint64_t before = bench_ticks();
    BENCH_REGION_0(i);
    const uint64_t ticks = bench_ticks() - before;
    if (__builtin_expect(ticks > waits->threshold, 0)) bench_slow_region(waits, ticks);
  }
}

__attribute__((noinline)) void bench_watched_loop_4(uint64_t from, uint64_t count, struct bench_waits* waits) {
  for (uint64_t i = from; i < from + count; ++i) {
    const uint64_t before = bench_ticks();
    BENCH_REGION_4(i);
    const uint64_t ticks = bench_ticks() - before;
    if (__builtin_expect(ticks > waits->threshold, 0)) bench_slow_region(waits, ticks);
  }
}
