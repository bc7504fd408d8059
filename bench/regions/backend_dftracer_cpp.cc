// SPDX-License-Identifier: MIT
// The C++ macros of this library.
#include <dftracer/dftracer.hpp>

#include "regions/harness.h"

extern "C" {
const char* const bench_backend_name = "dftracer-cpp";
void bench_backend_start(void) { DFTRACER_CPP_INIT(nullptr, nullptr, nullptr); }
void bench_backend_thread_start(void) {}
void bench_backend_finish(void) { DFTRACER_CPP_FINI(); }
}

#define BENCH_REGION_0(i)        \
  do {                           \
    DFTRACER_CPP_REGION(region); \
    bench_work(i);               \
  } while (0)

#define BENCH_REGION_4(i)                                      \
  do {                                                         \
    DFTRACER_CPP_REGION(region);                               \
    bench_work(i);                                             \
    DFTRACER_CPP_REGION_UPDATE(region, "step", bench_step(i)); \
    DFTRACER_CPP_REGION_UPDATE(region, "size", bench_size(i)); \
    DFTRACER_CPP_REGION_UPDATE(region, "loss", bench_loss(i)); \
    DFTRACER_CPP_REGION_UPDATE(region, "file", bench_file(i)); \
  } while (0)
#include "regions/loops.h"
