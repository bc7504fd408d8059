// SPDX-License-Identifier: MIT
// Purpose: hands out chunks within the memory limit and takes them back; anonymous memory, or slots of the crash file.
// Threads: any; one futex lock, taken once per chunk (thousands of records), signals blocked by the caller.
// Invariants:
//   1. Chunks are aligned to kChunkSize and marked MADV_DONTFORK: a forked child never sees, copies or writes them.
//   2. A stream without undrained chunks gets one whatever the limit, so a waiting thread always waits for chunks that
//   the
//      drain can free without it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/futex_lock.h"
#include "model/chunk.h"
#include "model/crash_file.h"

namespace dft::record {

struct PoolOptions {
  std::uint64_t limit_bytes = 64u << 20;
  bool wait = true;  // false: drop mode
  std::uint64_t longest_wait_ns = 10'000'000'000;
};

class ChunkPool {
 public:
  void configure(const PoolOptions& options);

  // `bytes`: what must fit behind the header. `reserved`: not subject to the limit (a stream's first chunk, regions).
  // Never waits. Null when the limit or the system refuses.
  model::ChunkHeader* take(model::ChunkKind kind, std::size_t bytes, bool reserved);
  // For events, waiting for the drain as long as options allow. `outstanding` counts the stream's chunks that are not
  // drained yet: with none of them left the stream gets one whatever the limit. `waited_ns` gets the time spent.
  model::ChunkHeader* take_or_wait(std::size_t bytes, const std::atomic<std::uint32_t>& outstanding,
                                   std::uint64_t* waited_ns);
  void give_back(model::ChunkHeader* chunk);  // by the drain; wakes waiters
  void give_up_waiting();                     // recording ends: waiters return empty-handed
  void trim();  // by the drain when there is little to do: memory of free chunks beyond a few goes back to the system

  std::uint64_t bytes_in_use() const { return in_use_.load(std::memory_order_relaxed); }

  // Crash-safe mode: chunks come from `fd` behind the crash header from now on. The pool owns neither. `fd` is a number
  // of the calling thread's descriptor table: only that thread can map slots (top_up), others ask it and wait a little;
  // `shared_descriptors`: every thread can.
  void use_crash_file(int fd, model::CrashHeader* header, bool shared_descriptors);
  void leave_crash_slots_to(int fd);  // the mapping thread has ended: every thread maps slots, by this descriptor
  void leave_crash_file();            // forgets all free chunks of it
  // By the thread that called use_crash_file, often: maps a few free slots ahead, and what was asked for.
  void top_up();
  std::uint64_t unprotected_chunks() const { return unprotected_.load(std::memory_order_relaxed); }
  // Called without locks held when a slot is asked for.
  void (*on_slot_wanted)() = nullptr;

  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }
  void reset_after_fork();  // forgets every chunk

 private:
  model::ChunkHeader* pop_free(std::uint32_t slots);
  model::ChunkHeader* obtain(std::uint32_t slots);  // REQUIRES: lock held
  void push_free(model::ChunkHeader* chunk);
  bool may_map() const;
  bool map_slab();  // many chunks of one slot at once, into the free list. REQUIRES: lock held
  model::ChunkHeader* map_new(std::uint32_t slots, std::uint32_t count);
  static void unmap(model::ChunkHeader* chunk);

  base::FutexLock lock_;
  PoolOptions options_;
  model::ChunkHeader* free_ = nullptr;
  std::uint32_t free_count_ = 0;
  std::atomic<std::uint64_t> in_use_{0};  // bytes that count against the limit
  std::atomic<std::uint32_t> freed_{0};   // futex word: changes at each give_back
  std::atomic<bool> giving_up_{false};
  std::atomic<std::uint32_t> waiters_{0};
  std::uint32_t taken_since_trim_ = 0;
  std::atomic<std::uint32_t> wanted_slots_{0};
  std::atomic<std::uint64_t> unprotected_{0};  // anonymous chunks made in crash-safe mode
  bool everyone_maps_ = true;
  int crash_fd_ = -1;
  model::CrashHeader* crash_ = nullptr;
};

}  // namespace dft::record
