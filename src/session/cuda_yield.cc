// SPDX-License-Identifier: MIT
// Other clients of the vendor's library in this process, which serves one at a time: who goes first.
#include <cstdio>

#include "base/log.h"
#include "base/raw_io.h"
#include "record/recorder.h"
#include "session/cuda.h"
#include "session/cuda_part.h"
#include "session/sources.h"
#include "sources/gpu/cupti/backend.h"
#include "sources/gpu/gpu_source.h"

namespace dft::session::cuda {

namespace {

// The profiler that runs while recording of the GPU could not begin yet: what it is called, and since when.
struct Early {
  bool is = false;
  char why[96] = {};
};
Early early;                 // with part.lock, as the next
std::uint64_t begun_at = 0;  // the first of those that run now; monotonic

const char* name_or(const char* name) { return name != nullptr && name[0] != '\0' ? name : "another profiler"; }

// Once: the program may do it at every step.
void tell_that_it_sees_nothing(const char* name) {
  static std::atomic<bool> told{false};
  if (told.exchange(true, std::memory_order_relaxed)) return;
  char text[256];
  std::snprintf(text, sizeof text,
                "%.64s begins while the tracer holds CUPTI: it will see nothing of the GPU, the trace loses nothing; "
                "DFTRACER_CUDA_YIELD=1 gives CUPTI up while it runs",
                name);
  gpu::Status status;
  status.state = gpu::Status::State::kOn;
  status.detail = text;
  gpu::cuda_source.status(status);
  base::LogLine() << text;
}

// A torch.profiler that does not ask whether CUPTI is free takes it. REQUIRES: part.lock.
void take_it_back() {
  if (!gpu::cuda_source.running()) return;
  if (!gpu::cupti::backend.was_taken_over()) return gpu::cupti::backend.expect_foreign_buffers(false);
  static std::atomic<bool> told{false};
  constexpr const char* kWhy = "another profiler, which took CUPTI over";
  if (gpu::cuda_source.pause(kWhy, begun_at) && !told.exchange(true, std::memory_order_relaxed)) {
    base::LogLine() << "the GPU's work while the profiler ran is missing from the trace: it took CUPTI over; "
                       "DFTRACER_CUDA_YIELD=1 lets them take turns";
  }
}

// REQUIRES: part.lock.
bool leave_it_to(const char* name) {
  begun_at = base::monotonic_ns();
  const Want now = part.wanted();
  if (now == Want::kStarted) {
    if (others.yields) return gpu::cuda_source.pause(name);
    if (gpu::cupti::backend.shares()) return true;
    gpu::cupti::backend.expect_foreign_buffers(true);
    tell_that_it_sees_nothing(name);
    return false;
  }
  early.is = others.yields && now == Want::kWaiting;
  std::snprintf(early.why, sizeof early.why, "left to %.64s", name);
  return true;
}

}  // namespace

bool tell_left() {
  if (early.is) part.tell_unrecorded(early.why, begun_at);
  return early.is;
}

bool profiler_begins(const char* name) {
  record::recorder.settle_child();
  const SourcesPaused paused;
  const base::SignalGuard signals;
  others.came.store(true, std::memory_order_relaxed);
  if (others.running.fetch_add(1, std::memory_order_acq_rel) != 0) return !gpu::cuda_source.running();
  if (!part.lock_in_time()) return false;
  const bool is_free = leave_it_to(name_or(name));
  part.lock.unlock();
  return is_free;
}

void profiler_ends() {
  record::recorder.settle_child();
  const SourcesPaused paused;
  std::uint32_t running = others.running.load(std::memory_order_acquire);
  do {
    if (running == 0) return;
  } while (!others.running.compare_exchange_weak(running, running - 1, std::memory_order_acq_rel));
  if (running != 1) return;
  {
    const base::SignalGuard signals;  // the threads that the vendor's library makes inherit this mask
    if (!part.lock_in_time()) return;
    if (part.wanted() == Want::kStarted) {
      take_it_back();
      const bool on = gpu::cuda_source.resume();
      if (!on) part.want.store(Want::kRefused, std::memory_order_release);
    }
    part.lock.unlock();
  }
  start();
  if (part.wanted() == Want::kStarted) tell_left();
  early.is = false;
}

}  // namespace dft::session::cuda
