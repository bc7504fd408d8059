// SPDX-License-Identifier: MIT
// Eight threads: nested and interleaved regions with args of every type, regions handed to another thread, exceptions.
#include <dftracer/dftracer.h>
#include <facts.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace {
constexpr int kThreads = 8;
constexpr int kRounds = 200;

struct Failure {};

void fail(int depth) {
  DFTRACER_CPP_FUNCTION();
  if (depth == 0) throw Failure();
  fail(depth - 1);
}

void one_round(int thread, int round) {
  DFTRACER_CPP_REGION(outer);
  DFTRACER_CPP_REGION_UPDATE(outer, "thread", thread);
  DFTRACER_CPP_REGION_UPDATE(outer, "round", round);
  DFTRACER_CPP_REGION_UPDATE(outer, "big", (1LL << 62) + round);
  DFTRACER_CPP_REGION_UPDATE(outer, "ubig", ~0ULL);
  DFTRACER_CPP_REGION_UPDATE(outer, "third", 1.0 / 3);
  DFTRACER_CPP_REGION_UPDATE(outer, "odd", round % 2 == 1);
  DFTRACER_CPP_REGION_START(left);
  DFTRACER_CPP_REGION_START(right);
  DFTRACER_CPP_REGION_END(left);
  { DFTRACER_CPP_REGION(inner); }
  DFTRACER_CPP_REGION_END(right);
  if (round % 10 == 0) {
    try {
      fail(2);
    } catch (const Failure&) {
      DFTRACER_CPP_INSTANT(caught);
    }
  }
}

void all_rounds(int thread) {
  fact("tid", my_tid());
  for (int round = 0; round < kRounds; ++round) one_round(thread, round);
}
}  // namespace

int main() {
  DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
  fact("main", my_tid());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(all_rounds, thread);
  for (std::thread& thread : threads) thread.join();
  DFTracerData* handed = initialize_region("handed", "c", DF_DATA_EVENT);
  std::thread([handed] {
    fact("other", my_tid());
    dftracer_region_update_int64(handed, "by", 2);
    finalize_region(handed);
  }).join();
  DFTRACER_CPP_FINI();
  return 0;
}
