// SPDX-License-Identifier: MIT
// Purpose: the buffers that a vendor's library fills: handed out, taken back full, decoded, used again.
// Threads: take and push inside the vendor's callbacks, on any thread; take_filled and give_back by the decoding
//          thread. No lock, no allocation, no system call in take and push but the waking of the decoding thread.
// Invariants:
//   1. All buffers lie in one reserved range, so a buffer is known by its address; a foreign one is never touched.
//   2. The range is never unmapped, and a forked child inherits it: the library may write into a buffer whenever it
//   likes.
//   3. What take() hands out is zero.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dft::gpu {

struct RawBuffer {
  const unsigned char* data = nullptr;
  std::size_t valid = 0;         // bytes that hold records
  void* context = nullptr;       // the vendor's handle, null where it has none
  std::uint64_t arrival_ns = 0;  // CLOCK_REALTIME
  std::uint32_t index = 0;
};

class BufferPool {
 public:
  // Once. `wake` (may be null) is called with `waker` when the first filled buffer of an empty queue was pushed. False
  // when the system refuses the addresses.
  bool reserve(std::size_t buffer_bytes, std::size_t limit_bytes, void (*wake)(void*), void* waker = nullptr);

  std::size_t buffer_bytes() const { return bytes_; }
  // Null at the limit; counted.
  unsigned char* take();
  // For libraries that cannot do without: memory whose records are lost. Never null after reserve().
  unsigned char* take_scratch();
  // False for memory that is not the pool's.
  bool push(void* data, std::size_t valid, void* context);
  void close() { closed_.store(true, std::memory_order_release); }  // later pushes are counted as late
  void open() { closed_.store(false, std::memory_order_release); }

  // Calls `use(const RawBuffer&)` for every filled buffer, oldest first, and gives each back after its call. Returns
  // how many.
  template <typename Use>
  std::size_t drain(Use&& use) {
    std::size_t count = 0;
    std::uint32_t at = take_filled();
    while (at != 0) {
      RawBuffer buffer = view(at);
      const std::uint32_t next = next_of(at);
      use(static_cast<const RawBuffer&>(buffer));
      give_back(at);
      at = next;
      ++count;
    }
    return count;
  }
  // Buffers that the library has now. Not counting scratch.
  std::uint32_t outstanding() const { return outstanding_.load(std::memory_order_acquire); }
  bool has_filled() const { return filled_.load(std::memory_order_acquire) != 0; }

  // Counters since the last call of the same function.
  std::uint64_t take_refused() { return refused_.exchange(0, std::memory_order_relaxed); }
  std::uint64_t take_scratch_bytes() { return scratch_bytes_.exchange(0, std::memory_order_relaxed); }
  std::uint64_t take_late() { return late_.exchange(0, std::memory_order_relaxed); }
  std::uint64_t take_foreign() { return foreign_.exchange(0, std::memory_order_relaxed); }
  std::uint32_t used_buffers() const { return grown_.load(std::memory_order_relaxed); }  // ever touched

 private:
  struct Slot {
    std::atomic<std::uint32_t> next;  // number of the next one, 0: none
    std::size_t valid;
    void* context;
    std::uint64_t arrival_ns;
  };
  static constexpr std::uint32_t kScratch = 8;

  std::uint32_t take_filled();  // number of the oldest, chained
  RawBuffer view(std::uint32_t number) const;
  std::uint32_t next_of(std::uint32_t number) const { return slots_[number - 1].next.load(std::memory_order_relaxed); }
  void give_back(std::uint32_t number);

  std::size_t bytes_ = 0;
  std::uint32_t count_ = 0;
  unsigned char* base_ = nullptr;
  Slot* slots_ = nullptr;
  void (*wake_)(void*) = nullptr;
  void* waker_ = nullptr;
  std::atomic<std::uint64_t> free_{0};    // change count << 32 | number of the first free buffer
  std::atomic<std::uint32_t> filled_{0};  // newest first
  std::atomic<std::uint32_t> grown_{0};
  std::atomic<std::uint32_t> next_scratch_{0};
  std::atomic<std::uint32_t> outstanding_{0};
  std::atomic<bool> closed_{false};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> scratch_bytes_{0};
  std::atomic<std::uint64_t> late_{0};
  std::atomic<std::uint64_t> foreign_{0};
};

}  // namespace dft::gpu
