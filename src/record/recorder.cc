// SPDX-License-Identifier: MIT
#include "record/recorder.h"

#include <limits.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/mman.h>

#include <new>

#include "base/raw_io.h"
#include "record/interrupted.h"
#include "record/region_args.h"

namespace dft::record {

using model::ChunkHeader;
using model::ChunkKind;

namespace {
constexpr std::size_t kStatePage = 4096;
constexpr std::uint32_t kUnannounced = 16;
Control inert_control{{0}, {1}};
constexpr std::uint32_t kSettling = 2;
pthread_key_t exit_key;

// Destructors of other keys may have events too. The key is set again until the last round but one, so that a thread
// that ends leaves once and not after each of them. In libc's last round sanitizers take their own leave.
constexpr int kLeaveRound = PTHREAD_DESTRUCTOR_ITERATIONS - 1;
__thread int exit_rounds = 0;

void on_thread_exit(void* value) {
  if (++exit_rounds < kLeaveRound && pthread_setspecific(exit_key, value) == 0) return;
  const base::SignalGuard signals;
  ThreadState* state = this_thread;
  this_thread = nullptr;  // an event in one more destructor attaches anew
  if (state != nullptr) recorder.leave_thread(state);
  const bool main_thread = base::raw::tid() == base::raw::pid();
  if (main_thread && recorder.on_main_thread_exit != nullptr) recorder.on_main_thread_exit();
}
}  // namespace

Control* control = &inert_control;
Recorder recorder;
__thread ThreadState* this_thread = nullptr;

bool Recorder::prepare() {
  if (prepared_) return true;
  if (pthread_key_create(&exit_key, on_thread_exit) != 0) return false;
  auto* page = static_cast<Control*>(base::raw::map(4096));
  if (page == nullptr) return false;
  // Before Linux 4.14 this fails; then only the pthread_atfork handler protects forked children.
  base::raw::madvise(page, 4096, MADV_WIPEONFORK);
  control = new (page) Control{{0}, {1}};
  prepared_ = true;
  return true;
}

void Recorder::watch_this_thread() {
  if (prepare() && pthread_getspecific(exit_key) == nullptr) pthread_setspecific(exit_key, this);
}

void Recorder::start(std::int32_t pid) {
  pid_ = pid;
  control->active.store(1, std::memory_order_seq_cst);
}

void Recorder::register_membarrier() {
  if (membarrier_) return;
  membarrier_ = base::raw::membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

unsigned Recorder::quiesce(std::uint64_t longest_wait_ns) {
  control->active.store(0, std::memory_order_seq_cst);
  pool.give_up_waiting();
  // Threads order "level = 1" before "read active" only for the compiler; this makes it hold for the processor.
  const bool fenced = membarrier_ && base::raw::membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
  const std::uint64_t began = base::monotonic_ns();
  const std::uint32_t never = 0;
  if (!fenced) base::raw::futex_wait(&never, 0, 2'000'000);
  for (;;) {
    unsigned inside = 0;
    for (const ThreadState* state = threads(); state != nullptr; state = state->next) {
      const bool live = state->phase.load(std::memory_order_acquire) == ThreadPhase::kLive;
      if (live && state != this_thread && state->level.load(std::memory_order_acquire) != 0) ++inside;
    }
    inside += leaving_.load(std::memory_order_seq_cst);
    if (inside == 0 || base::monotonic_ns() - began >= longest_wait_ns) return inside;
    base::raw::futex_wait(&never, 0, 100'000);
  }
}

void Recorder::forget_threads() {
  for (ThreadState* state = threads(); state != nullptr; state = state->next) {
    // A thread that is stuck inside (crashed, stopped) may still write to its chunks: they stay its own.
    const bool stuck = state->phase.load(std::memory_order_acquire) == ThreadPhase::kLive && state != this_thread &&
                       state->level.load(std::memory_order_acquire) != 0;
    if (stuck) continue;
    for (Stream& stream : state->streams) {
      if (ChunkHeader* chunk = stream.current.load(std::memory_order_acquire)) pool.give_back(chunk);
      stream.pos = stream.limit = nullptr;
      stream.current.store(nullptr, std::memory_order_relaxed);
      stream.next_seq = stream.drained_seq = 0;
      stream.outstanding.store(0, std::memory_order_relaxed);
    }
    ChunkHeader* regions = state->region_chunks.load(std::memory_order_acquire);
    while (regions != nullptr) {
      ChunkHeader* next = regions->next;
      drop_args_in(regions);
      pool.give_back(regions);
      regions = next;
    }
    state->region_chunks.store(nullptr, std::memory_order_relaxed);
    state->free_slots[0] = state->free_slots[1] = nullptr;
    state->parked = state->innermost = nullptr;
    state->returned.store(nullptr, std::memory_order_relaxed);
    for (int cause = 0; cause < kLossCauses; ++cause) {
      state->losses[cause].reset();
      state->reported_losses[cause] = 0;
    }
    if (state->phase.load(std::memory_order_relaxed) == ThreadPhase::kExited) retire(state);
  }
  forget_region_chunks();
  forget_unattached();
}

void Recorder::forget_unattached() {
  unattached.reset();
  reported_unattached = 0;
}

void Recorder::forget_region_chunks() {
  if (region_chunk_count_ == 0) return;
  for (auto& entry : region_table_) {
    if (entry.load(std::memory_order_relaxed) != nullptr) entry.store(nullptr, std::memory_order_relaxed);
  }
  region_chunk_count_ = 0;
}

void Recorder::lock_for_fork() {
  schemas.lock();
  definitions.lock();
  threads_lock_.lock();
  pool.lock();
  share_with_child(true);
}

void Recorder::unlock_after_fork() {
  share_with_child(false);
  pool.unlock();
  threads_lock_.unlock();
  definitions.unlock();
  schemas.unlock();
}

void Recorder::reset_in_child() {
  // Chunks were not inherited (MADV_DONTFORK); only what points to them is cleared.
  orphan_threads();
  control->active.store(0, std::memory_order_relaxed);
  this_thread = nullptr;
  if (prepared_) pthread_setspecific(exit_key, nullptr);
  threads_.store(nullptr, std::memory_order_relaxed);
  free_states_.store(nullptr, std::memory_order_relaxed);
  unused_count_ = 0;
  unannounced_.store(0, std::memory_order_relaxed);
  dying_.store(0, std::memory_order_relaxed);
  leaving_.store(0, std::memory_order_relaxed);
  full_.store(nullptr, std::memory_order_relaxed);
  sleeping_.store(0, std::memory_order_relaxed);
  membarrier_ = false;  // whether the registration is inherited is the kernel's business
  forget_region_chunks();
  forget_unattached();
  threads_lock_.reset_after_fork();
  pool.reset_after_fork();
  schemas.reset_after_fork();
  definitions.reset_after_fork();
}

bool Recorder::claim_child() {
  for (;;) {
    std::uint32_t seen = 0;
    if (control->ours.compare_exchange_strong(seen, kSettling, std::memory_order_acquire)) return true;
    if (seen != kSettling) return false;
    base::raw::futex_wait(&control->ours, kSettling, 10'000'000);
  }
}

void Recorder::child_settled() {
  control->ours.store(1, std::memory_order_release);
  base::raw::futex_wake(&control->ours, 1 << 30);
}

// One thread at a time takes from the list, so a state cannot leave it and come back between the two looks.
ThreadState* Recorder::free_state() {
  ThreadState* state = free_states_.load(std::memory_order_acquire);
  while (state != nullptr && !free_states_.compare_exchange_weak(state, state->next_free, std::memory_order_acquire)) {
  }
  return state;
}

ThreadState* Recorder::new_state() {
  if (unused_count_ == 0) {
    void* memory = base::raw::map(kStatePage);
    if (memory == nullptr) return nullptr;
    unused_states_ = static_cast<ThreadState*>(memory);
    unused_count_ = kStatePage / sizeof(ThreadState);
  }
  --unused_count_;
  auto* state = new (unused_states_++) ThreadState{};
  state->next = threads_.load(std::memory_order_relaxed);
  return state;
}

ThreadState* Recorder::attach_thread() {
  const base::LockGuard guard(threads_lock_);
  if (this_thread != nullptr) return this_thread;
  ThreadState* state = free_state();
  const bool reused = state != nullptr;
  if (!reused) state = new_state();
  if (state == nullptr) {
    unattached.add(0, base::clock_now());
    return nullptr;
  }
  state->level.store(0, std::memory_order_relaxed);
  state->tid = base::raw::tid();
  state->dying = exit_rounds >= kLeaveRound;
  if (state->dying && dying_.fetch_add(1, std::memory_order_relaxed) + 1 >= kUnannounced) wake_drain();
  state->phase.store(ThreadPhase::kLive, std::memory_order_release);
  if (!reused) threads_.store(state, std::memory_order_release);
  this_thread = state;
  // A thread without the key (out of memory) is found by the drain's liveness check instead.
  pthread_setspecific(exit_key, state);
  return state;
}

// The state is the drain's as soon as the last of its chunks is pushed, so it cannot say itself that its thread is at
// work here: `leaving_` does. Once recording is over the last pass of the drain finds the chunks in their places.
void Recorder::leave_thread(ThreadState* state) {
  leaving_.fetch_add(1, std::memory_order_seq_cst);  // pairs with quiesce(): it waits, or recording is seen to be over
  if (control->active.load(std::memory_order_seq_cst) != 0) push_chunks_of(state);
  leaving_.fetch_sub(1, std::memory_order_release);
}

void Recorder::push_chunks_of(ThreadState* state) {
  ChunkHeader* chunks[2] = {};
  for (int i = 0; i < 2; ++i) {
    Stream& stream = state->streams[i];
    chunks[i] = stream.current.load(std::memory_order_relaxed);
    stream.pos = stream.limit = nullptr;
    stream.current.store(nullptr, std::memory_order_release);
  }
  state->phase.store(ThreadPhase::kExited, std::memory_order_release);
  for (ChunkHeader* chunk : chunks) {
    if (chunk != nullptr) push_last(chunk);
  }
}

void Recorder::add_full(ChunkHeader* chunk) {
  ChunkHeader* head = full_.load(std::memory_order_relaxed);
  do {
    chunk->next = head;
  } while (!full_.compare_exchange_weak(head, chunk, std::memory_order_release, std::memory_order_relaxed));
}

void Recorder::push_full(ChunkHeader* chunk) {
  add_full(chunk);
  unannounced_.store(0, std::memory_order_relaxed);
  wake_drain();
  if (on_full != nullptr) on_full();
}

void Recorder::push_last(ChunkHeader* chunk) {
  if (unannounced_.fetch_add(1, std::memory_order_relaxed) + 1 >= kUnannounced) {
    push_full(chunk);
  } else {
    add_full(chunk);
  }
}

void Recorder::wake_drain() {
  wake_.fetch_add(1, std::memory_order_seq_cst);
  if (sleeping_.load(std::memory_order_seq_cst) != 0) base::raw::futex_wake(&wake_, 1);
}

void Recorder::wait_for_work(std::uint32_t seen, std::uint64_t timeout_ns) {
  if (full_.load(std::memory_order_seq_cst) != nullptr) return;
  sleeping_.store(1, std::memory_order_seq_cst);  // pairs with wake_drain: one of the two sees the other
  if (wake_.load(std::memory_order_seq_cst) == seen) base::raw::futex_wait(&wake_, seen, timeout_ns);
  sleeping_.store(0, std::memory_order_relaxed);
}

ChunkHeader* Recorder::take_full() {
  ChunkHeader* newest = full_.exchange(nullptr, std::memory_order_acquire);
  ChunkHeader* oldest = nullptr;
  while (newest != nullptr) {
    ChunkHeader* next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  return oldest;
}

bool Recorder::finished_with(const ThreadState& state) const {
  for (const Stream& stream : state.streams) {
    if (stream.outstanding.load(std::memory_order_acquire) != 0) return false;
  }
  return true;
}

bool Recorder::many_dying() {
  if (dying_.load(std::memory_order_relaxed) < kUnannounced) return false;
  dying_.store(0, std::memory_order_relaxed);
  return true;
}

void Recorder::retire(ThreadState* state) {
  for (Stream& stream : state->streams) stream.next_seq = stream.drained_seq = 0;
  state->phase.store(ThreadPhase::kFree, std::memory_order_release);
  ThreadState* head = free_states_.load(std::memory_order_relaxed);
  do {
    state->next_free = head;
  } while (!free_states_.compare_exchange_weak(head, state, std::memory_order_release, std::memory_order_relaxed));
}

bool Recorder::is_region_chunk(const void* base) const {
  const auto key = reinterpret_cast<std::uintptr_t>(base) / model::kChunkSize;
  for (std::uint32_t i = static_cast<std::uint32_t>(key) % kRegionTable;; i = (i + 1) % kRegionTable) {
    const void* known = region_table_[i].load(std::memory_order_acquire);
    if (known == base) return true;
    if (known == nullptr) return false;
  }
}

bool Recorder::add_region_chunk(ThreadState* state) {
  ChunkHeader* chunk = pool.take(ChunkKind::kRegions, 0, true);
  if (chunk == nullptr) return false;
  chunk->pid = pid_;
  chunk->tid = state->tid;
  chunk->owner = state;
  const base::LockGuard guard(threads_lock_);
  if (region_chunk_count_ >= kRegionTable / 2) {
    pool.give_back(chunk);
    return false;
  }
  ++region_chunk_count_;
  chunk->next = state->region_chunks.load(std::memory_order_relaxed);
  state->region_chunks.store(chunk, std::memory_order_release);
  const auto key = reinterpret_cast<std::uintptr_t>(chunk) / model::kChunkSize;
  std::uint32_t i = static_cast<std::uint32_t>(key) % kRegionTable;
  while (region_table_[i].load(std::memory_order_relaxed) != nullptr) i = (i + 1) % kRegionTable;
  region_table_[i].store(chunk, std::memory_order_release);
  return true;
}

}  // namespace dft::record
