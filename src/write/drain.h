// SPDX-License-Identifier: MIT
// Purpose: moves records from the threads' chunks into the trace: a thread of the tracer's own, or, where no thread can
// be
//          made, the recording threads themselves.
// Threads: start, finish, flush by any thread (one at a time; the session's lock); finish and flush also inside a
// signal
//          handler: they only set words and wait. Everything else happens on the drain's thread, with all signals
//          blocked.
// Invariants:
//   1. The drain's thread has its own descriptor table where the kernel allows it (descriptor_table.h).
//   2. No malloc after start().
//   3. The drain's thread records nothing, whoever makes calls on it: who stands in front of pthread_create (a
//      sanitizer's runtime, a profiler) may do so before its first line, then `on_start` has seen to it.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "record/recorder.h"
#include "write/crash_file.h"
#include "write/trace_writer.h"

namespace dft::write {

struct DrainOptions {
  WriterOptions writer;
  std::uint64_t flush_interval_ms = 1000;
  bool crash_safe = false;
  void (*on_start)() = nullptr;     // on the drain's thread, before anything else
  void (*on_interval)() = nullptr;  // on the drain's thread, after each flush that the interval asked for
};

class Drain {
 public:
  // 0 when the drain runs and the file is open, else -errno; the reason was said on stderr.
  // `notes` must outlive the drain.
  int start(const DrainOptions& options, TraceNotes& notes);
  bool running() const { return phase_.load(std::memory_order_acquire) == Phase::kRunning; }

  // Ends recording: quiesces the threads, writes what is left, closes the file. False when the time was over first.
  bool finish(std::uint64_t timeout_ns, std::uint64_t quiesce_ns);
  // Everything committed before the call is in the file afterwards. False when the time was over first.
  bool flush(std::uint64_t timeout_ns);
  // The main thread has called pthread_exit: libc ends the process when its last thread ends, and the drain's thread
  // must not be that one. From here on the recording threads write themselves. Under the session's lock: who is asked
  // to finish and to hand over at once does one of them only.
  void hand_over();
  // After finish: where the trace is, "" when no file was made.
  const char* path() const { return path_; }
  // What takes CLOCK_MONOTONIC to the trace's clock, since the last start.
  std::int64_t wall_minus_monotonic_ns() const { return wall_offset_.load(std::memory_order_relaxed); }
  bool is_drain_thread() const;
  // The calling thread is the drain's, for which start() is waiting; from the thread's first instruction on.
  bool is_starting_on_this_thread() const;
  std::uint64_t lost_events() const { return lost_; }

  void reset_in_child();

 private:
  enum class Phase : std::uint32_t { kIdle = 0, kStarting, kRunning, kFinished, kFailed };
  struct Work;

  static void* thread_main(void* self);
  static void on_full_chunk();
  bool make_work(const DrainOptions& options, TraceNotes& notes);
  void free_work();
  bool start_thread();
  int begin();  // opens what is to be opened now
  bool loop();  // true: finish was asked for; false: hand-over
  enum class Pass { kFullChunks, kEverything, kLast };
  void pass(Pass what);
  void drain_chunk(model::ChunkHeader* chunk, bool whole);
  void drain_full_chunks();
  void drain_current_chunks();
  void release_held();
  void done_with(model::ChunkHeader* chunk);
  static void retire_if_done(record::ThreadState* state);
  void collect_losses();
  void collect_loss(record::LossCounter& counter, std::uint64_t& reported, int cause);
  void check_liveness();
  static void end_dead_threads(bool only_dying);
  void check_clock();
  void serve_crash_file();
  int open_files();  // 0 or -errno
  void end_of_trace();
  bool wait_for(std::atomic<std::uint32_t>& word, std::uint32_t at_least, std::uint64_t timeout_ns);

  std::atomic<Phase> phase_{Phase::kIdle};
  std::atomic<std::uint32_t> started_{0};  // futex words
  std::atomic<std::uint32_t> flush_asked_{0};
  std::atomic<std::uint32_t> flush_done_{0};
  std::atomic<std::uint32_t> finish_asked_{0};
  std::atomic<std::uint32_t> finish_done_{0};
  std::atomic<std::uint32_t> hand_over_asked_{0};
  std::atomic<std::uint32_t> hand_over_done_{0};
  std::atomic<std::uint64_t> quiesce_ns_{0};
  std::atomic<std::int64_t> wall_offset_{0};
  std::atomic<int> tid_{0};
  bool threaded_ = false;
  pthread_t thread_ = {};
  base::FutexLock inline_lock_;
  Work* work_ = nullptr;  // its own mapping, not inherited by children
  std::uint64_t lost_ = 0;
  int error_ = 0;
  char path_[kMaxPath] = {};
};

extern Drain drain;  // the process's one drain

}  // namespace dft::write
