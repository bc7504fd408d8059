// SPDX-License-Identifier: MIT
// So many empty launches from so many threads, each on a stream of its own. Prints what a launch cost the application:
//   launches THREADS TOTAL [END]   ->  launch_ns=812 loop_s=0.81
// END: how the process ends: return (default), exit, _exit, quick_exit, abort, term, throw. Needs nothing of the
// tracer.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

#include "driver.h"

namespace {

double now_s() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void launch(CUfunction nothing, CUcontext context, long count) {
  CUstream stream;
  CHECK(CU(cuCtxSetCurrent)(context));
  CHECK(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
  const auto call = CU(cuLaunchKernel);
  for (long i = 0; i < count; ++i) {
    CHECK(call(nothing, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
  }
  CHECK(CU(cuStreamSynchronize)(stream));
}

int end_as(const char* how) {
  if (std::strcmp(how, "exit") == 0) std::exit(0);
  if (std::strcmp(how, "_exit") == 0) _exit(0);
  if (std::strcmp(how, "quick_exit") == 0) std::quick_exit(0);
  if (std::strcmp(how, "abort") == 0) std::abort();
  if (std::strcmp(how, "term") == 0) raise(SIGTERM);
  if (std::strcmp(how, "throw") == 0) throw 1;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const long total = argc > 2 ? std::atol(argv[2]) : 1000;
  const CUcontext context = driver::open_device();
  const CUfunction nothing = driver::load(driver::kPtx, "_ZN5train7nothingEv");
  launch(nothing, context, 0);
  const double begin = now_s();
  if (threads == 1) {
    launch(nothing, context, total);
  } else {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
      const long share = total / threads + (i < total % threads ? 1 : 0);
      all.emplace_back([=] { launch(nothing, context, share); });
    }
    for (std::thread& thread : all) thread.join();
  }
  const double loop = now_s() - begin;
  std::printf("launch_ns=%.1f loop_s=%.3f\n", loop * 1e9 / static_cast<double>(total) * (threads > 1 ? threads : 1),
              loop);
  std::fflush(stdout);
  return end_as(argc > 3 ? argv[3] : "return");
}
