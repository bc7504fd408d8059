// SPDX-License-Identifier: MIT
// LTTng-UST with a provider of its own; measure/backends.py starts the session that records it.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "regions/harness.h"
#include "regions/lttng_provider.h"

const char* const bench_backend_name = "lttng-ust";
void bench_backend_start(void) {}
void bench_backend_thread_start(void) {}
void bench_backend_finish(void) {}

#define BENCH_REGION_0(i)                        \
  do {                                           \
    lttng_ust_tracepoint(dftracer_bench, begin); \
    bench_work(i);                               \
    lttng_ust_tracepoint(dftracer_bench, end);   \
  } while (0)

#define BENCH_REGION_4(i)                                                                                       \
  do {                                                                                                          \
    lttng_ust_tracepoint(dftracer_bench, begin);                                                                \
    bench_work(i);                                                                                              \
    lttng_ust_tracepoint(dftracer_bench, end_args, bench_step(i), bench_size(i), bench_loss(i), bench_file(i)); \
  } while (0)
#include "regions/loops.h"
