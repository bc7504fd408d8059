// SPDX-License-Identifier: MIT
// Quill: one line at the end of each region, formatted by its own thread.
#include <quill/Backend.h>
#include <quill/Frontend.h>
#include <quill/LogMacros.h>
#include <quill/Logger.h>
#include <quill/sinks/FileSink.h>

#include <cstdlib>

#include "regions/harness.h"

namespace {
quill::Logger* logger = nullptr;
}

extern "C" {
const char* const bench_backend_name = "quill";
void bench_backend_start(void) {
  quill::Backend::start();
  const char* path = std::getenv("BENCH_OUTPUT");
  auto sink = quill::Frontend::create_or_get_sink<quill::FileSink>(path ? path : "quill.log");
  logger = quill::Frontend::create_or_get_logger("bench", std::move(sink));
}
void bench_backend_thread_start(void) { quill::Frontend::preallocate(); }
void bench_backend_finish(void) {
  logger->flush_log();
  quill::Backend::stop();
}
}

#define BENCH_REGION_0(i)                                           \
  do {                                                              \
    const std::uint64_t begin = bench_ticks();                      \
    bench_work(i);                                                  \
    LOG_INFO(logger, "region {} {}", begin, bench_ticks() - begin); \
  } while (0)

#define BENCH_REGION_4(i)                                                                                         \
  do {                                                                                                            \
    const std::uint64_t begin = bench_ticks();                                                                    \
    bench_work(i);                                                                                                \
    LOG_INFO(logger, "region {} {} step={} size={} loss={} file={}", begin, bench_ticks() - begin, bench_step(i), \
             bench_size(i), bench_loss(i), bench_file(i));                                                        \
  } while (0)
#include "regions/loops.h"
