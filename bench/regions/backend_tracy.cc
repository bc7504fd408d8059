// SPDX-License-Identifier: MIT
// Tracy's client without a server: zones are recorded into its queue and stay there. Tracy has no named args:
// a zone gets three unnamed integers and one text instead.
#include <tracy/Tracy.hpp>

#include "regions/harness.h"

extern "C" {
const char* const bench_backend_name = "tracy";
void bench_backend_start(void) {}
void bench_backend_thread_start(void) {}
void bench_backend_finish(void) {}
}

#define BENCH_REGION_0(i)  \
  do {                     \
    ZoneScopedN("region"); \
    bench_work(i);         \
  } while (0)

#define BENCH_REGION_4(i)                            \
  do {                                               \
    ZoneScopedN("region");                           \
    bench_work(i);                                   \
    ZoneValue(static_cast<uint64_t>(bench_step(i))); \
    ZoneValue(static_cast<uint64_t>(bench_size(i))); \
    ZoneValue(static_cast<uint64_t>(bench_loss(i))); \
    ZoneText(bench_file(i), 11);                     \
  } while (0)
#include "regions/loops.h"
