// SPDX-License-Identifier: MIT
// Purpose: which file a mapped address shows, for the mappings of traced files.
// Threads: any, signal handlers included; lock-free. A slot is claimed by its address and given back by zeroing it.
// Limits: kSlots mappings at a time; further ones are not known (their mmap is an event all the same).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "model/record.h"

namespace dft::io {

class MappingTable {
 public:
  static constexpr std::size_t kSlots = 4096;

  constexpr MappingTable() = default;
  MappingTable(const MappingTable&) = delete;
  MappingTable& operator=(const MappingTable&) = delete;

  void add(const void* address, std::size_t length, model::StringId name);
  // The file shown at `address`, 0 when none. Nearly free while no traced file is mapped.
  model::StringId find(const void* address) const {
    return used_.load(std::memory_order_acquire) == 0 ? 0 : search(reinterpret_cast<std::uintptr_t>(address));
  }
  // The range is unmapped: what it covers is forgotten, what it cuts becomes shorter.
  void remove(const void* address, std::size_t length);
  void reset();

 private:
  struct Slot {
    std::atomic<std::uintptr_t> begin{0};  // 0 free, 1 being written
    std::atomic<std::uintptr_t> end{0};
    std::atomic<model::StringId> name{0};
  };
  model::StringId search(std::uintptr_t address) const;

  std::atomic<std::size_t> used_{0};  // slots in use or used before: no further one has to be searched
  Slot slots_[kSlots];
};

}  // namespace dft::io
