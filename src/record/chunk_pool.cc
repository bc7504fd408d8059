// SPDX-License-Identifier: MIT
#include "record/chunk_pool.h"

#include <sys/mman.h>

#include <new>

#include "base/clock.h"
#include "base/raw_io.h"

namespace dft::record {

using model::ChunkHeader;
using model::ChunkKind;
using model::kChunkSize;
using model::kInCrashFile;
using model::kUncounted;

namespace {
constexpr std::uint32_t kSlab = model::kCrashGrowth;      // chunks mapped at once: a flood must not live in the kernel
constexpr std::uint32_t kKeepFree = 16;                   // 4 MiB stay resident for the next burst
constexpr std::uint32_t kReadySlots = 8;                  // mapped ahead in crash-safe mode
constexpr std::uint64_t kSlotPatienceNs = 2'000'000'000;  // then the drain must be stuck
constexpr std::uint64_t kSlotRetryNs = 5'000'000;
constexpr std::uint64_t kRetryNs = 10'000'000;
constexpr std::size_t kPage = 4096;
__thread bool this_thread_maps = false;

std::uint32_t slots_for(std::size_t bytes) {
  return static_cast<std::uint32_t>((bytes + sizeof(ChunkHeader) + kChunkSize - 1) / kChunkSize);
}
}  // namespace

void ChunkPool::configure(const PoolOptions& options) {
  options_ = options;
  giving_up_.store(false, std::memory_order_relaxed);
}

ChunkHeader* ChunkPool::pop_free(std::uint32_t slots) {
  for (ChunkHeader** link = &free_; *link != nullptr; link = &(*link)->next) {
    ChunkHeader* chunk = *link;
    if (chunk->slots != slots) continue;
    *link = chunk->next;
    --free_count_;
    return chunk;
  }
  return nullptr;
}

void ChunkPool::push_free(ChunkHeader* chunk) {
  chunk->next = free_;
  free_ = chunk;
  ++free_count_;
}

bool ChunkPool::may_map() const { return crash_ == nullptr || everyone_maps_ || this_thread_maps; }

// Maps room for `count` chunks of `slots` each and returns the first; the others follow it in memory.
ChunkHeader* ChunkPool::map_new(std::uint32_t slots, std::uint32_t count) {
  const std::size_t chunk_size = std::size_t{slots} * kChunkSize;
  const std::size_t size = chunk_size * count;
  int fd = -1;
  std::uint64_t offset = 0;
  if (crash_ != nullptr && may_map()) {
    const std::uint64_t slot = crash_->slot_count.load(std::memory_order_relaxed);
    offset = model::kCrashHeaderSize + slot * kChunkSize;
    // Blocks are reserved first: a hole that cannot be filled would kill the application with SIGBUS.
    const bool room = base::raw::free_bytes(crash_fd_) >= size + model::kRoomForTrace;
    if (room && base::raw::fallocate(crash_fd_, offset, size) == 0) fd = crash_fd_;
  }
  if (crash_ != nullptr && fd < 0) unprotected_.fetch_add(count, std::memory_order_relaxed);
  char* memory = static_cast<char*>(base::raw::map_aligned(size, kChunkSize, fd, offset));
  if (memory == nullptr) return nullptr;
  base::raw::madvise(memory, size, MADV_DONTFORK);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto* chunk = reinterpret_cast<ChunkHeader*>(memory + i * chunk_size);
    chunk->slots = slots;
    chunk->origin = fd >= 0 ? kInCrashFile : 0u;
    if (fd >= 0) chunk->file_slot = crash_->slot_count.load(std::memory_order_relaxed) + std::uint64_t{i} * slots;
  }
  if (fd >= 0) crash_->slot_count.fetch_add(std::uint64_t{slots} * count, std::memory_order_release);
  return reinterpret_cast<ChunkHeader*>(memory);
}

bool ChunkPool::map_slab() {
  char* memory = reinterpret_cast<char*>(map_new(1, kSlab));
  if (memory == nullptr) return false;
  for (std::uint32_t i = kSlab; i-- > 0;)
    push_free(reinterpret_cast<ChunkHeader*>(memory + std::size_t{i} * kChunkSize));
  return true;
}

void ChunkPool::unmap(ChunkHeader* chunk) { base::raw::unmap(chunk, std::size_t{chunk->slots} * kChunkSize); }

ChunkHeader* ChunkPool::obtain(std::uint32_t slots) {
  ChunkHeader* chunk = pop_free(slots);
  if (chunk != nullptr) return chunk;
  if (may_map()) {
    if (slots == 1 && map_slab()) return pop_free(1);
    return map_new(slots, 1);
  }
  // The crash file's descriptor lives in the drain's own table: ask it. If it does not answer soon, plain memory is
  // used.
  const std::uint64_t began = base::monotonic_ns();
  while (base::monotonic_ns() - began < kSlotPatienceNs) {
    const std::uint32_t seen = freed_.load(std::memory_order_acquire);
    wanted_slots_.store(slots, std::memory_order_release);
    lock_.unlock();
    if (on_slot_wanted != nullptr) on_slot_wanted();
    base::raw::futex_wait(&freed_, seen, kSlotRetryNs);
    lock_.lock();
    if (crash_ == nullptr) break;
    chunk = pop_free(slots);
    if (chunk != nullptr) return chunk;
  }
  return map_new(slots, 1);
}

ChunkHeader* ChunkPool::take(ChunkKind kind, std::size_t bytes, bool reserved) {
  const std::uint32_t slots = slots_for(bytes);
  const std::uint64_t size = std::uint64_t{slots} * kChunkSize;
  // A record larger than the whole limit may still pass when nothing else is in use.
  const auto fits = [&](std::uint64_t used) { return reserved || used + size <= options_.limit_bytes || used == 0; };
  if (!fits(in_use_.load(std::memory_order_relaxed))) return nullptr;
  lock_.lock();
  ChunkHeader* chunk = nullptr;
  if (fits(in_use_.load(std::memory_order_relaxed))) chunk = obtain(slots);
  if (chunk != nullptr) {
    ++taken_since_trim_;
    chunk->origin = (chunk->origin & kInCrashFile) | (reserved ? kUncounted : 0u);
    if (!reserved) in_use_.fetch_add(size, std::memory_order_relaxed);
    chunk->magic = model::kChunkMagic;
    chunk->committed.store(0, std::memory_order_relaxed);
    chunk->drained = chunk->pending = chunk->pending_block = 0;
    chunk->next = nullptr;
    chunk->owner = nullptr;
    chunk->kind.store(kind, std::memory_order_release);
  }
  lock_.unlock();
  return chunk;
}

ChunkHeader* ChunkPool::take_or_wait(std::size_t bytes, const std::atomic<std::uint32_t>& outstanding,
                                     std::uint64_t* waited_ns) {
  *waited_ns = 0;
  const auto attempt = [&] {
    return take(ChunkKind::kEvents, bytes, outstanding.load(std::memory_order_acquire) == 0);
  };
  std::uint32_t seen = freed_.load(std::memory_order_acquire);
  // Whoever comes while others wait does not take what is meant for them, or they could wait for ever.
  const bool in_turn =
      waiters_.load(std::memory_order_relaxed) == 0 || outstanding.load(std::memory_order_acquire) == 0;
  ChunkHeader* chunk = in_turn || !options_.wait ? attempt() : nullptr;
  if (chunk != nullptr || !options_.wait) return chunk;
  const std::uint64_t began = base::monotonic_ns();
  waiters_.fetch_add(1, std::memory_order_relaxed);
  while (chunk == nullptr && !giving_up_.load(std::memory_order_relaxed)) {
    *waited_ns = base::monotonic_ns() - began;
    if (*waited_ns >= options_.longest_wait_ns) break;
    base::raw::futex_wait(&freed_, seen, kRetryNs);  // the kernel wakes in the order of arrival
    seen = freed_.load(std::memory_order_acquire);
    chunk = attempt();
  }
  waiters_.fetch_sub(1, std::memory_order_relaxed);
  *waited_ns = base::monotonic_ns() - began;
  return chunk;
}

void ChunkPool::give_back(ChunkHeader* chunk) {
  lock_.lock();
  if ((chunk->origin & kUncounted) == 0) {
    in_use_.fetch_sub(std::uint64_t{chunk->slots} * kChunkSize, std::memory_order_relaxed);
  }
  const bool in_file = (chunk->origin & kInCrashFile) != 0;
  chunk->kind.store(ChunkKind::kFree, std::memory_order_release);
  // Slots of the crash file cannot be returned to the file; they are kept for reuse whatever their size.
  if (in_file || chunk->slots == 1) {
    chunk->resident = 1;
    push_free(chunk);
  } else {
    unmap(chunk);
  }
  lock_.unlock();
  freed_.fetch_add(1, std::memory_order_release);
  base::raw::futex_wake(&freed_, crash_ != nullptr ? 1 << 30 : 1);
}

void ChunkPool::trim() {
  lock_.lock();
  const bool idle = taken_since_trim_ < kKeepFree;  // what is in use now would only have to be faulted in again
  taken_since_trim_ = 0;
  std::uint32_t kept = 0;
  for (ChunkHeader* chunk = idle ? free_ : nullptr; chunk != nullptr; chunk = chunk->next) {
    if (chunk->resident == 0 || (chunk->origin & kInCrashFile) != 0 || ++kept <= kKeepFree) continue;
    // The first page, with the header and the link, stays.
    base::raw::madvise(reinterpret_cast<char*>(chunk) + kPage, std::size_t{chunk->slots} * kChunkSize - kPage,
                       MADV_DONTNEED);
    chunk->resident = 0;
  }
  lock_.unlock();
}

void ChunkPool::give_up_waiting() {
  giving_up_.store(true, std::memory_order_relaxed);
  freed_.fetch_add(1, std::memory_order_release);
  base::raw::futex_wake(&freed_, 1 << 30);
}

void ChunkPool::use_crash_file(int fd, model::CrashHeader* header, bool shared_descriptors) {
  lock_.lock();
  while (free_ != nullptr) {
    ChunkHeader* chunk = free_;
    free_ = chunk->next;
    unmap(chunk);
  }
  free_count_ = 0;
  crash_fd_ = fd;
  crash_ = header;
  everyone_maps_ = shared_descriptors;
  this_thread_maps = header != nullptr;
  unprotected_.store(0, std::memory_order_relaxed);
  lock_.unlock();
}

void ChunkPool::leave_crash_slots_to(int fd) {
  lock_.lock();
  crash_fd_ = fd;
  everyone_maps_ = true;
  lock_.unlock();
}

void ChunkPool::leave_crash_file() { use_crash_file(-1, nullptr, true); }

void ChunkPool::top_up() {
  if (crash_ == nullptr) return;
  lock_.lock();
  const std::uint32_t wanted = wanted_slots_.exchange(0, std::memory_order_acquire);
  bool mapped = false;
  if (wanted > 1) {
    ChunkHeader* chunk = map_new(wanted, 1);
    if (chunk != nullptr) push_free(chunk);
    mapped = chunk != nullptr;
  }
  if (free_count_ < kReadySlots) mapped = map_slab() || mapped;
  lock_.unlock();
  if (mapped) {
    freed_.fetch_add(1, std::memory_order_release);
    base::raw::futex_wake(&freed_, 1 << 30);
  }
}

void ChunkPool::reset_after_fork() {
  lock_.reset_after_fork();
  free_ = nullptr;
  free_count_ = 0;
  in_use_.store(0, std::memory_order_relaxed);
  waiters_.store(0, std::memory_order_relaxed);
  crash_fd_ = -1;
  crash_ = nullptr;
  everyone_maps_ = true;
  this_thread_maps = false;
  on_slot_wanted = nullptr;
}

}  // namespace dft::record
