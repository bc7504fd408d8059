// SPDX-License-Identifier: MIT
// spdlog's asynchronous logger, blocking when its queue is full (as we do): one line at the end of each region.
#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>

#include "regions/harness.h"

namespace {
std::shared_ptr<spdlog::async_logger> logger;
}

extern "C" {
const char* const bench_backend_name = "spdlog";
void bench_backend_start(void) {
  spdlog::init_thread_pool(128 * 1024, 1);
  const char* path = std::getenv("BENCH_OUTPUT");
  auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path ? path : "spdlog.log", true);
  logger = std::make_shared<spdlog::async_logger>("bench", sink, spdlog::thread_pool(),
                                                  spdlog::async_overflow_policy::block);
}
void bench_backend_thread_start(void) {}
void bench_backend_finish(void) {
  logger->flush();
  logger.reset();
  spdlog::shutdown();
}
}

#define BENCH_REGION_0(i)                                       \
  do {                                                          \
    const std::uint64_t begin = bench_ticks();                  \
    bench_work(i);                                              \
    logger->info("region {} {}", begin, bench_ticks() - begin); \
  } while (0)

#define BENCH_REGION_4(i)                                                                                     \
  do {                                                                                                        \
    const std::uint64_t begin = bench_ticks();                                                                \
    bench_work(i);                                                                                            \
    logger->info("region {} {} step={} size={} loss={} file={}", begin, bench_ticks() - begin, bench_step(i), \
                 bench_size(i), bench_loss(i), bench_file(i));                                                \
  } while (0)
#include "regions/loops.h"
