// SPDX-License-Identifier: MIT
#include "sources/io/mapping_table.h"

namespace dft::io {

namespace {
constexpr std::uintptr_t kFree = 0;
constexpr std::uintptr_t kClaimed = 1;
}  // namespace

void MappingTable::add(const void* address, std::size_t length, model::StringId name) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  remove(address, length);
  for (std::size_t i = 0; i < kSlots; ++i) {
    Slot& slot = slots_[i];
    std::uintptr_t expected = kFree;
    if (!slot.begin.compare_exchange_strong(expected, kClaimed, std::memory_order_relaxed)) continue;
    slot.end.store(begin + length, std::memory_order_relaxed);
    slot.name.store(name, std::memory_order_relaxed);
    slot.begin.store(begin, std::memory_order_release);  // pairs with the acquire in search: the slot is whole
    std::size_t used = used_.load(std::memory_order_relaxed);
    while (used < i + 1 && !used_.compare_exchange_weak(used, i + 1, std::memory_order_release)) {
    }
    return;
  }
}

model::StringId MappingTable::search(std::uintptr_t address) const {
  const std::size_t used = used_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < used; ++i) {
    const Slot& slot = slots_[i];
    const std::uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    if (begin > kClaimed && address >= begin && address < slot.end.load(std::memory_order_relaxed)) {
      return slot.name.load(std::memory_order_relaxed);
    }
  }
  return 0;
}

void MappingTable::remove(const void* address, std::size_t length) {
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t last = first + length;
  const std::size_t used = used_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < used; ++i) {
    Slot& slot = slots_[i];
    std::uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    const std::uintptr_t end = slot.end.load(std::memory_order_relaxed);
    if (begin <= kClaimed || begin >= last || end <= first) continue;
    if (begin >= first && end <= last) {
      slot.begin.compare_exchange_strong(begin, kFree, std::memory_order_relaxed);
    } else if (begin < first) {
      slot.end.store(first, std::memory_order_relaxed);  // a hole in the middle keeps its first part only
    } else {
      slot.begin.compare_exchange_strong(begin, last, std::memory_order_release);
    }
  }
}

void MappingTable::reset() {
  for (Slot& slot : slots_) slot.begin.store(kFree, std::memory_order_relaxed);
  used_.store(0, std::memory_order_release);
}

}  // namespace dft::io
