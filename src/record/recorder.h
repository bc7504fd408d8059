// SPDX-License-Identifier: MIT
// Purpose: the process-wide side of recording: who records, what is full, what the drain may take.
// Threads: attach/leave by the recording threads; start, quiesce and everything under "drain" by one thread at a time.
// Invariants:
//   1. `active` lies in a page that the kernel clears in a forked child (MADV_WIPEONFORK), so that no kind of fork can
//      make a child write with its parent's identity.
//   2. After quiesce() no thread is inside the recorder, and none enters until start().
// See: record/thread_state.h, docs/adr/ (fork detection, quiescence).
#pragma once

#include <atomic>
#include <cstdint>

#include "record/chunk_pool.h"
#include "record/definitions_log.h"
#include "record/schema_table.h"
#include "record/thread_state.h"

namespace dft::record {

struct Control {
  std::atomic<std::uint32_t> active;
  // 0 in a child, whatever system call made it, until its memory is its own (claim_child, child_settled).
  std::atomic<std::uint32_t> ours;
};
// Never null: an inert one before the first start.
extern Control* control;

struct Recorder {
  ChunkPool pool;
  DefinitionsLog definitions;
  SchemaTable schemas{definitions};

  // Called by a thread that has an event while recording is inactive; true when recording is active afterwards.
  bool (*on_inactive)() = nullptr;

  // Called in a child that no fork handler saw (clone, _Fork), before a thread of it waits for a lock: whoever held one
  // in the parent does not exist here. Returns when the child is settled.
  void (*on_forked)() = nullptr;
  void settle_child() {
    if (__builtin_expect(control->ours.load(std::memory_order_relaxed) != 1, 0) && on_forked != nullptr) on_forked();
  }

  // Called when the main thread ends by pthread_exit while others may live on.
  void (*on_main_thread_exit)() = nullptr;
  void watch_this_thread();  // its end is noticed even if it never records
  // Set while nobody drains in the background: called by a thread that has just pushed a full chunk.
  void (*on_full)() = nullptr;

  // -- life cycle (session) --
  bool prepare();  // once: control page, thread-exit key, membarrier registration
  void start(std::int32_t pid);
  // Makes quiesce() exact. At once while the process has one thread; else it takes the kernel milliseconds, which
  // neither the application's start nor a short process's end should wait for: by the drain, when there is time.
  void register_membarrier();
  // Stops recording and waits (bounded) until no thread is inside the recorder, the caller's own excepted. Returns how
  // many threads were still inside.
  unsigned quiesce(std::uint64_t longest_wait_ns);
  void forget_threads();  // after quiesce and the last drain: every thread starts afresh at its next event
  void lock_for_fork();
  void unlock_after_fork();
  void reset_in_child();
  // The first thread of a child to ask gets true, then resets everything; others wait until child_settled().
  bool claim_child();
  void child_settled();

  // -- recording threads --
  ThreadState* attach_thread();
  void leave_thread(ThreadState* state);  // at thread exit
  void push_full(model::ChunkHeader* chunk);
  // The same for the chunk of a thread that ended, which seldom holds much: the drain is woken once for many.
  void push_last(model::ChunkHeader* chunk);
  void wake_drain();

  // -- drain --
  model::ChunkHeader* take_full();  // chain over `next`, oldest first
  ThreadState* threads() const { return threads_.load(std::memory_order_acquire); }
  void retire(ThreadState* state);  // an exited thread whose chunks are drained; its state is free for another
  bool finished_with(const ThreadState& state) const;
  // Whether many threads attached late in their end (ThreadState::dying) since this was last true.
  bool many_dying();
  // What wait_for_work compares with; read it before looking for work or requests, or a wake-up in between is lost.
  std::uint32_t wake_count() const { return wake_.load(std::memory_order_seq_cst); }
  // Sleeps until woken after `seen` was read, or the time is over.
  void wait_for_work(std::uint32_t seen, std::uint64_t timeout_ns);

  // Events of threads for which there was no memory, not even for a state that could count them.
  LossCounter unattached;
  std::uint64_t reported_unattached = 0;  // the drain's

  // -- regions --
  bool is_region_chunk(const void* base) const;
  bool add_region_chunk(ThreadState* state);

  std::int32_t pid() const { return pid_; }

 private:
  static constexpr std::uint32_t kRegionTable = 32768;
  void forget_region_chunks();
  void forget_unattached();
  ThreadState* free_state();  // REQUIRES: threads_lock_ held
  ThreadState* new_state();   // the same
  void push_chunks_of(ThreadState* state);
  void add_full(model::ChunkHeader* chunk);
  std::int32_t pid_ = 0;
  bool prepared_ = false;
  bool membarrier_ = false;
  base::FutexLock threads_lock_;
  std::atomic<ThreadState*> threads_{nullptr};
  std::atomic<ThreadState*> free_states_{nullptr};
  ThreadState* unused_states_ = nullptr;  // rest of the page mapped last
  std::uint32_t unused_count_ = 0;
  std::atomic<model::ChunkHeader*> full_{nullptr};
  std::atomic<std::uint32_t> leaving_{0};  // threads that are handing over their last chunks
  std::atomic<std::uint32_t> dying_{0};
  std::atomic<std::uint32_t> unannounced_{0};  // chunks on the list for which the drain was not woken
  std::atomic<std::uint32_t> wake_{0};
  std::atomic<std::uint32_t> sleeping_{0};
  std::uint32_t region_chunk_count_ = 0;
  std::atomic<const void*> region_table_[kRegionTable] = {};
};

extern Recorder recorder;
// __thread, not thread_local: no initialisation wrapper on the hot path.
extern __thread ThreadState* this_thread;

}  // namespace dft::record
