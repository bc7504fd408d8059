// SPDX-License-Identifier: MIT
// The limit that tracing is measured against: CUPTI with the same kinds as the tracer and a completion callback that
// only keeps the buffer for the next request. A library that the CUDA driver loads by itself:
//   CUDA_INJECTION64_PATH=$PWD/libbare_cupti.so PROGRAM
// BARE_KINDS: kinds, separated by commas; BARE_CUPTI: the libcupti to use; BARE_COUNT=1: says how many buffers came.
#include <atomic>
#include <mutex>
#include <vector>

#include "injected.h"

namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

struct State {
  std::mutex lock;
  std::vector<std::uint8_t*> free_buffers;
  std::atomic<unsigned> completed{0};
};
State& state() {
  static State* one = new State;
  return *one;
}

void request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  State& s = state();
  const std::lock_guard<std::mutex> guard(s.lock);
  if (s.free_buffers.empty()) {
    *buffer = static_cast<std::uint8_t*>(std::malloc(kBufferBytes));
  } else {
    *buffer = s.free_buffers.back();
    s.free_buffers.pop_back();
  }
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *most = 0;
}

void complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
  State& s = state();
  s.completed.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard<std::mutex> guard(s.lock);
  s.free_buffers.push_back(buffer);
}

void at_exit() {
  CUPTI(cuptiActivityFlushAll)(0);
  CUPTI(cuptiActivityFlushAll)(1);
  if (std::getenv("BARE_COUNT") != nullptr) std::fprintf(stderr, "bare_cupti: %u buffers\n", state().completed.load());
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  // A measurement of nothing must not look like one.
  if (!injected::subscribe(std::getenv("BARE_CUPTI"))) std::_Exit(3);
  const char* kinds = std::getenv("BARE_KINDS");
  injected::start(&request, &complete, kinds != nullptr ? kinds : "10,1,22,2,49,50,38,17,5,4,51,8,9,37");
  std::atexit(at_exit);
  return 1;
}
