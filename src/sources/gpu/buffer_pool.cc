// SPDX-License-Identifier: MIT
#include "sources/gpu/buffer_pool.h"

#include <time.h>

#include <cstring>
#include <new>

#include "base/raw_io.h"

namespace dft::gpu {

namespace {
constexpr std::size_t kPage = 4096;
}  // namespace

bool BufferPool::reserve(std::size_t buffer_bytes, std::size_t limit_bytes, void (*wake)(void*), void* waker) {
  if (base_ != nullptr) return true;
  bytes_ = (buffer_bytes + kPage - 1) / kPage * kPage;
  if (bytes_ == 0) bytes_ = kPage;
  const std::size_t count = limit_bytes / bytes_;
  count_ = count < 2 ? 2 : static_cast<std::uint32_t>(count < 0x7fffff ? count : 0x7fffff);
  wake_ = wake;
  waker_ = waker;
  void* slots = base::raw::map(count_ * sizeof(Slot));
  void* memory = base::raw::map((std::size_t{count_} + kScratch) * bytes_);
  if (slots == nullptr || memory == nullptr) {
    if (slots != nullptr) base::raw::unmap(slots, count_ * sizeof(Slot));
    if (memory != nullptr) base::raw::unmap(memory, (std::size_t{count_} + kScratch) * bytes_);
    return false;
  }
  slots_ = static_cast<Slot*>(slots);  // zero pages are empty slots
  base_ = static_cast<unsigned char*>(memory);
  return true;
}

unsigned char* BufferPool::take() {
  std::uint64_t head = free_.load(std::memory_order_acquire);
  while (static_cast<std::uint32_t>(head) != 0) {
    const auto number = static_cast<std::uint32_t>(head);
    const std::uint64_t next = ((head >> 32) + 1) << 32 | next_of(number);
    if (free_.compare_exchange_weak(head, next, std::memory_order_acq_rel, std::memory_order_acquire)) {
      outstanding_.fetch_add(1, std::memory_order_relaxed);
      return base_ + std::size_t{number - 1} * bytes_;
    }
  }
  std::uint32_t grown = grown_.load(std::memory_order_relaxed);
  while (grown < count_) {
    if (grown_.compare_exchange_weak(grown, grown + 1, std::memory_order_relaxed)) {
      outstanding_.fetch_add(1, std::memory_order_relaxed);
      return base_ + std::size_t{grown} * bytes_;
    }
  }
  refused_.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

unsigned char* BufferPool::take_scratch() {
  const std::uint32_t which = next_scratch_.fetch_add(1, std::memory_order_relaxed) % kScratch;
  return base_ + (std::size_t{count_} + which) * bytes_;
}

bool BufferPool::push(void* data, std::size_t valid, void* context) {
  const auto offset = static_cast<std::uintptr_t>(static_cast<unsigned char*>(data) - base_);
  if (base_ == nullptr || static_cast<unsigned char*>(data) < base_ || offset % bytes_ != 0 ||
      offset / bytes_ >= std::size_t{count_} + kScratch) {
    foreign_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (offset / bytes_ >= count_) {
    scratch_bytes_.fetch_add(valid, std::memory_order_relaxed);
    return true;
  }
  outstanding_.fetch_sub(1, std::memory_order_acq_rel);
  if (closed_.load(std::memory_order_acquire)) {
    late_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const auto number = static_cast<std::uint32_t>(offset / bytes_) + 1;
  Slot& slot = slots_[number - 1];
  slot.valid = valid < bytes_ ? valid : bytes_;
  slot.context = context;
  slot.arrival_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  std::uint32_t head = filled_.load(std::memory_order_relaxed);
  do {
    slot.next.store(head, std::memory_order_relaxed);
  } while (!filled_.compare_exchange_weak(head, number, std::memory_order_acq_rel, std::memory_order_relaxed));
  if (head == 0 && wake_ != nullptr) wake_(waker_);
  return true;
}

std::uint32_t BufferPool::take_filled() {
  std::uint32_t newest = filled_.exchange(0, std::memory_order_acq_rel);
  std::uint32_t oldest = 0;
  while (newest != 0) {
    const std::uint32_t older = next_of(newest);
    slots_[newest - 1].next.store(oldest, std::memory_order_relaxed);
    oldest = newest;
    newest = older;
  }
  return oldest;
}

RawBuffer BufferPool::view(std::uint32_t number) const {
  const Slot& slot = slots_[number - 1];
  return {base_ + std::size_t{number - 1} * bytes_, slot.valid, slot.context, slot.arrival_ns, number - 1};
}

void BufferPool::give_back(std::uint32_t number) {
  Slot& slot = slots_[number - 1];
  std::memset(base_ + std::size_t{number - 1} * bytes_, 0, slot.valid);
  std::uint64_t head = free_.load(std::memory_order_relaxed);
  std::uint64_t next;
  do {
    slot.next.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
    next = ((head >> 32) + 1) << 32 | number;
  } while (!free_.compare_exchange_weak(head, next, std::memory_order_acq_rel, std::memory_order_relaxed));
}

}  // namespace dft::gpu
