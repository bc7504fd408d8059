// SPDX-License-Identifier: MIT
// The C macros: of this library, of this library compiled out (DFTRACER_DISABLE), and, with BENCH_ORIGINAL, of the
// original's release 2.2.0, whose macros have the same names. That release has no double arg; it gets an int instead.
#include <dftracer/dftracer.h>
#include <stddef.h>

#include "regions/harness.h"

#if defined(BENCH_ORIGINAL)
const char* const bench_backend_name = "original";
#define BENCH_UPDATE_LOSS(region, i) DFTRACER_C_REGION_UPDATE_INT(region, "loss", (int)bench_loss(i))
#elif defined(DFTRACER_DISABLE)
const char* const bench_backend_name = "compiled-out";
#define BENCH_UPDATE_LOSS(region, i) DFTRACER_C_REGION_UPDATE_DOUBLE(region, "loss", bench_loss(i))
#else
const char* const bench_backend_name = "dftracer-c";
#define BENCH_UPDATE_LOSS(region, i) DFTRACER_C_REGION_UPDATE_DOUBLE(region, "loss", bench_loss(i))
#endif

void bench_backend_start(void) { DFTRACER_C_INIT(NULL, NULL, NULL); }
void bench_backend_thread_start(void) {}
void bench_backend_finish(void) { DFTRACER_C_FINI(); }

#define BENCH_REGION_0(i)            \
  do {                               \
    DFTRACER_C_REGION_START(region); \
    bench_work(i);                   \
    DFTRACER_C_REGION_END(region);   \
  } while (0)

#define BENCH_REGION_4(i)                                        \
  do {                                                           \
    DFTRACER_C_REGION_START(region);                             \
    bench_work(i);                                               \
    DFTRACER_C_REGION_UPDATE_INT(region, "step", bench_step(i)); \
    DFTRACER_C_REGION_UPDATE_INT(region, "size", bench_size(i)); \
    BENCH_UPDATE_LOSS(region, i);                                \
    DFTRACER_C_REGION_UPDATE_STR(region, "file", bench_file(i)); \
    DFTRACER_C_REGION_END(region);                               \
  } while (0)
#include "regions/loops.h"
