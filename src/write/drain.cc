// SPDX-License-Identifier: MIT
// Starting, stopping, waking. What a pass does is in drain_pass.cc.
#include "write/drain.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>

#include <new>

#include "base/log.h"
#include "base/raw_io.h"
#include "base/sanitizer.h"
#include "write/descriptor_table.h"
#include "write/drain_work.h"

namespace dft::write {

namespace raw = base::raw;
using record::recorder;

Drain drain;

namespace {
constexpr std::size_t kStack = 512 * 1024;
constexpr std::uint64_t kStartPatienceNs = 10'000'000'000;
constexpr std::uint64_t kTurnNs = 100'000;  // the shortest that Linux grants
constexpr std::uint64_t kLookNs = 50'000;   // between looks at whether the thread has gone
constexpr long kMarkNs = 50'461;            // a timer slack like the usual one, but nobody else's

void announce(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  word.store(value, std::memory_order_release);
  raw::futex_wake(&word, 1 << 30);
}

// Where other threads wait for the processor the kernel lets the drain run for a short while only at a time, and a
// thread that the drain has just given room runs at once instead of some milliseconds later. From Linux 6.12 on; older
// kernels take no notice.
void take_short_turns() {
  struct {  // the kernel's sched_attr; of the same name in glibc's headers from 2.41 on
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  } attributes = {};
  if (raw::call(SYS_sched_getattr, 0, reinterpret_cast<long>(&attributes), sizeof attributes, 0) < 0) return;
  if (attributes.policy != SCHED_OTHER && attributes.policy != SCHED_BATCH) return;
  attributes.runtime = kTurnNs;
  raw::call(SYS_sched_setattr, 0, reinterpret_cast<long>(&attributes), 0);
}
}  // namespace

bool Drain::is_drain_thread() const { return threaded_ && tid_.load(std::memory_order_relaxed) == raw::tid(); }

// Libc stores the thread's name before it makes it, but who stands in front of it may store another one, and later:
// then the mark tells, which a thread inherits from its maker. It does not exist for real-time threads.
bool Drain::is_starting_on_this_thread() const {
  if (phase_.load(std::memory_order_acquire) != Phase::kStarting) return false;
  if (__atomic_load_n(&thread_, __ATOMIC_RELAXED) == pthread_self()) return true;
  return raw::call(SYS_prctl, PR_GET_TIMERSLACK) == kMarkNs;
}

bool Drain::make_work(const DrainOptions& options, TraceNotes& notes) {
  void* memory = raw::map(sizeof(Work));
  if (memory == nullptr) return false;
  raw::madvise(memory, sizeof(Work), MADV_DONTFORK);
  work_ = new (memory) Work(options, recorder.definitions, notes);
  if (work_->writer.reserve_memory()) return true;
  free_work();
  return false;
}

void Drain::free_work() {
  work_->~Work();
  raw::unmap(work_, sizeof(Work));
  work_ = nullptr;
}

int Drain::start(const DrainOptions& options, TraceNotes& notes) {
  path_[0] = '\0';
  lost_ = 0;
  error_ = 0;
  for (auto* word :
       {&started_, &flush_asked_, &flush_done_, &finish_asked_, &finish_done_, &hand_over_asked_, &hand_over_done_})
    word->store(0);
  thread_ = {};
  if (!make_work(options, notes)) return -ENOMEM;
  phase_.store(Phase::kStarting, std::memory_order_release);
  const base::ClockPair now = base::clock_pair();
  wall_offset_.store(base::realtime_minus_monotonic_ns(), std::memory_order_relaxed);
  work_->clock.start(now, wall_minus_monotonic_ns());
  if (__libc_single_threaded != 0) recorder.register_membarrier();
  threaded_ = start_thread();
  if (!threaded_) {
    base::LogLine() << "cannot start a thread for writing: the traced threads write themselves, which slows them down";
    begin();
  } else if (!wait_for(started_, 1, kStartPatienceNs)) {
    base::LogLine() << "the thread for writing does not come up within 10 s: this process is not traced";
    error_ = -ETIMEDOUT;
  }
  base::write_deferred_log();
  if (error_ != 0) {
    phase_.store(Phase::kFailed, std::memory_order_release);
    return error_;
  }
  recorder.on_full = threaded_ ? nullptr : on_full_chunk;
  return 0;
}

bool Drain::start_thread() {
  const base::SignalGuard
      signals;  // the new thread inherits the blocked mask: the application's handlers never run on it
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, kStack);
  // Nobody joins it: who waits for its end may be a signal handler, and who stands in front of pthread_create may hand
  // out names that only he can join.
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const long slack = raw::call(SYS_prctl, PR_GET_TIMERSLACK);
  raw::call(SYS_prctl, PR_SET_TIMERSLACK, kMarkNs);
  const bool made = pthread_create(&thread_, &attributes, thread_main, this) == 0;
  if (slack > 0) raw::call(SYS_prctl, PR_SET_TIMERSLACK, slack);
  pthread_attr_destroy(&attributes);
  return made;
}

void* Drain::thread_main(void* self) {
  const base::UnseenByThreadSanitizer unseen;
  auto* mine = static_cast<Drain*>(self);
  if (mine->work_->options.on_start != nullptr) mine->work_->options.on_start();
  mine->tid_.store(raw::tid(), std::memory_order_relaxed);
  prctl(PR_SET_NAME, "dftracer", 0, 0, 0);
  take_short_turns();
  if (own_empty_descriptor_table()) {
    base::defer_log_of_this_thread();
    mine->work_->shared_descriptors = false;
  }
  mine->begin();
  // Only now may the application go on: one that ends at once must not leave an empty file.
  announce(mine->started_, 1);
  if (mine->error_ != 0) return nullptr;
  if (mine->loop()) {
    mine->end_of_trace();
  } else {
    announce(mine->hand_over_done_, 1);
  }
  return nullptr;
}

int Drain::begin() {
  error_ = open_files();
  if (error_ != 0) return error_;
  work_->writer.begin();  // whoever is killed at once is named at least
  phase_.store(Phase::kRunning, std::memory_order_release);
  return 0;
}

bool Drain::loop() {
  const std::uint64_t interval = work_->options.flush_interval_ms * 1'000'000;
  std::uint64_t next_flush = base::monotonic_ns() + interval;
  for (;;) {
    const std::uint32_t seen = recorder.wake_count();
    const bool finishing = finish_asked_.load(std::memory_order_acquire) != 0;
    const std::uint32_t flush_asked = flush_asked_.load(std::memory_order_acquire);
    if (finishing) return true;
    if (hand_over_asked_.load(std::memory_order_acquire) != 0) return false;
    const std::uint64_t now = base::monotonic_ns();
    const bool due = now >= next_flush || flush_asked != flush_done_.load(std::memory_order_relaxed);
    pass(due ? Pass::kEverything : Pass::kFullChunks);
    if (due) {
      next_flush = base::monotonic_ns() + interval;
      announce(flush_done_, flush_asked);
      recorder.register_membarrier();
      if (work_->options.on_interval != nullptr) work_->options.on_interval();
      continue;
    }
    recorder.wait_for_work(seen, next_flush > now ? next_flush - now : 0);
  }
}

bool Drain::wait_for(std::atomic<std::uint32_t>& word, std::uint32_t at_least, std::uint64_t timeout_ns) {
  const std::uint64_t began = base::monotonic_ns();
  for (;;) {
    const std::uint32_t seen = word.load(std::memory_order_acquire);
    if (seen >= at_least) return true;
    const std::uint64_t waited = base::monotonic_ns() - began;
    if (waited >= timeout_ns) return false;
    raw::futex_wait(&word, seen, timeout_ns - waited < 100'000'000 ? timeout_ns - waited : 100'000'000);
  }
}

bool Drain::finish(std::uint64_t timeout_ns, std::uint64_t quiesce_ns) {
  const Phase phase = phase_.load(std::memory_order_acquire);
  if (phase == Phase::kFinished || phase == Phase::kIdle || phase == Phase::kFailed) return true;
  quiesce_ns_.store(quiesce_ns, std::memory_order_relaxed);
  finish_asked_.store(1, std::memory_order_release);
  if (!threaded_) {
    const base::LockGuard guard(inline_lock_);
    end_of_trace();
    return true;
  }
  if (is_drain_thread()) return false;
  recorder.wake_drain();
  const bool done = wait_for(finish_done_, 1, timeout_ns);
  base::write_deferred_log();
  return done;
}

bool Drain::flush(std::uint64_t timeout_ns) {
  if (!running()) return true;
  if (!threaded_) {
    const base::LockGuard guard(inline_lock_);
    pass(Pass::kEverything);
    return true;
  }
  if (is_drain_thread()) return false;
  const std::uint32_t mine = flush_asked_.fetch_add(1, std::memory_order_acq_rel) + 1;
  recorder.wake_drain();
  const bool done = wait_for(flush_done_, mine, timeout_ns);
  base::write_deferred_log();
  return done;
}

void Drain::hand_over() {
  if (!threaded_ || !running() || finish_asked_.load(std::memory_order_acquire) != 0) return;
  hand_over_asked_.store(1, std::memory_order_release);
  recorder.wake_drain();
  const std::uint64_t began = base::monotonic_ns();
  if (!wait_for(hand_over_done_, 1, kStartPatienceNs)) return;
  const long tid = tid_.load(std::memory_order_relaxed);
  while (raw::call(SYS_tgkill, raw::pid(), tid, 0) == 0 && base::monotonic_ns() - began < kStartPatienceNs) {
    raw::futex_wait(&hand_over_done_, 1, kLookNs);
  }
  const base::LockGuard guard(inline_lock_);
  work_->writer.descriptors_are_shared_now();
  if (work_->crash.is_open()) recorder.pool.leave_crash_slots_to(work_->crash.reopen());
  threaded_ = false;
  recorder.on_full = on_full_chunk;
}

// Without a thread of our own, the thread that filled a chunk drains it. One that finds the lock taken leaves its chunk
// to the holder or to the next.
void Drain::on_full_chunk() {
  if (!drain.running() || !drain.inline_lock_.try_lock()) return;
  drain.pass(Pass::kFullChunks);
  drain.inline_lock_.unlock();
}

void Drain::reset_in_child() {
  phase_.store(Phase::kIdle, std::memory_order_relaxed);
  inline_lock_.reset_after_fork();
  work_ = nullptr;
  threaded_ = false;
  path_[0] = '\0';
  recorder.on_full = nullptr;
}

}  // namespace dft::write
