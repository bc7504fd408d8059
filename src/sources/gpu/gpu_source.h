// SPDX-License-Identifier: MIT
// Purpose: GPU recording of one vendor as the session sees it: starts a backend, decodes its buffers on a thread of its
//          own, ends in bounded time.
// Threads: start, flush, stop by one thread at a time (the session's lock); in_forked_child by the child's only thread.
//          Decoding, the vendor's flushes and all emitting happen on the source's thread, signals blocked.
// Invariants:
//   1. Without a start there is no thread, no memory and no vendor library.
//   2. After in_forked_child nothing of the vendor's is called in that process, whatever is asked.
//   3. The thread may wait for the drain (record/chunk_pool.h), the drain never for it; so stop() comes before the
//      drain's finish.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "sources/gpu/activity_writer.h"
#include "sources/gpu/backend.h"
#include "sources/gpu/buffer_pool.h"
#include "sources/gpu/gpu_clock.h"
#include "sources/gpu/settings.h"

namespace dft::gpu {

// For the `end` event.
struct Summary {
  bool started = false;  // some time in this recording
  WriterCounts counts;
  std::uint32_t buffers = 0;  // ever in use
  std::size_t buffer_bytes = 0;
};

class GpuSource final : public StatusSink {
 public:
  // False when no GPU records are taken; a `gpu_status` record says why.
  bool start(const Settings& settings, Backend& backend);
  // A forked child, or a process whose vendor library hangs: nothing can be recorded any more.
  bool is_dead() const { return state_.load(std::memory_order_acquire) == State::kDead; }
  bool running() const { return state_.load(std::memory_order_acquire) == State::kRunning; }
  // What the device has finished before the call is recorded afterwards. False when the time was over first.
  bool flush(std::uint64_t timeout_ns);
  // Ends recording; everything is recorded afterwards. False when the time was over first: what is missing then is a
  // `loss` record. Another start may follow.
  bool stop();
  // Gives the vendor's library up while another profiler runs, and takes it again; the gap is a `loss` record. The
  // other one may keep the library's subscription afterwards. A stop() while paused ends the gap. `since`: of the
  // monotonic clock, when nothing came from then on; 0: now.
  bool pause(std::string_view to, std::uint64_t since = 0);
  bool resume();
  void in_forked_child();
  Summary summary() const;

  void status(const Status& status) override;

 private:
  enum class State : std::uint32_t { kIdle, kRunning, kDead };

  static void* thread_main(void* self);
  static void wake(void* self);
  void wake_thread();
  bool start_thread();
  void run();
  void pass(bool flush);
  void drain_buffers();
  void take_sample(bool always);
  void emit_clock(std::int64_t step) const;
  void collect_losses();
  std::uint64_t work_recorded() const;
  void wait_for_running_work();
  void end_of_recording();
  void tell_gap();
  bool wait_for(std::atomic<std::uint32_t>& word, std::uint32_t at_least, std::uint64_t timeout_ns);

  std::atomic<State> state_{State::kIdle};
  std::atomic<std::uint32_t> wake_{0};  // futex words
  std::atomic<std::uint32_t> sleeping_{0};
  std::atomic<std::uint32_t> flush_asked_{0};
  std::atomic<std::uint32_t> flush_done_{0};
  std::atomic<std::uint32_t> stop_asked_{0};
  std::atomic<std::uint32_t> stop_done_{0};
  std::uint32_t stops_ = 0;
  bool started_ = false;
  std::uint64_t paused_at_ns_ = 0;  // trace clock; 0: not paused
  char paused_for_[96] = {};
  pthread_t thread_ = {};
  Settings settings_;
  Backend* backend_ = nullptr;
  BufferPool pool_;
  GpuClock clock_;
  std::int64_t vendor_minus_realtime_ = 0;
  ActivityWriter writer_;
};

// The process's sources, one for each vendor; never destroyed.
extern GpuSource& cuda_source;
extern GpuSource& hip_source;

}  // namespace dft::gpu
