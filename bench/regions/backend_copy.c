// SPDX-License-Identifier: MIT
// The least a tracer can do: two clock readings, a 64-byte record (with four args: 128 bytes) copied into memory of the
// thread's own, one release store. Nothing is encoded or written.
#include <stdatomic.h>
#include <string.h>

#include "regions/harness.h"

enum { kRingBytes = 256 * 1024 };
static _Thread_local char ring[kRingBytes] __attribute__((aligned(64)));
static _Thread_local _Atomic uint64_t committed;

const char* const bench_backend_name = "copy";
void bench_backend_start(void) {}
void bench_backend_thread_start(void) { memset(ring, 1, sizeof ring); }
void bench_backend_finish(void) {}

struct record {
  uint64_t begin, end, site, spare[5];
};
struct record_4 {
  struct record head;
  uint64_t keys[3];
  int64_t step, size;
  double loss;
  char file[16];
};

static inline void publish(const void* record, size_t size) {
  const uint64_t at = atomic_load_explicit(&committed, memory_order_relaxed);
  memcpy(ring + at % kRingBytes, record, size);
  atomic_store_explicit(&committed, at + size, memory_order_release);
}

static inline void region_0(uint64_t i) {
  struct record record = {.begin = bench_ticks(), .site = 7};
  bench_work(i);
  record.end = bench_ticks();
  publish(&record, sizeof record);
}

static inline void region_4(uint64_t i) {
  struct record_4 record = {.head = {.begin = bench_ticks(), .site = 8}};
  bench_work(i);
  record.step = bench_step(i);
  record.size = bench_size(i);
  record.loss = bench_loss(i);
  const char* file = bench_file(i);
  memcpy(record.file, file, strlen(file) + 1);
  record.head.end = bench_ticks();
  publish(&record, sizeof record);
}

#define BENCH_REGION_0(i) region_0(i)
#define BENCH_REGION_4(i) region_4(i)
#include "regions/loops.h"
