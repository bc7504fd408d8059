// SPDX-License-Identifier: MIT
// Purpose: the GPUs and CPUs that the library knows: from its handles to the numbers that events carry, and a record
// for
//          each of them.
// Threads: filled while the backend starts, then read by the decoding thread.
#pragma once

#include <cstdint>

#include "sources/gpu/activity.h"
#include "sources/gpu/rocprof/functions.h"

namespace dft::gpu::rocprof {

class Agents {
 public:
  static constexpr unsigned kMost = 256;

  // Emits a `gpu_device` record for each.
  bool configure(const Functions& functions);
  struct Entry {
    std::uint64_t handle;
    std::uint32_t logical_node;  // what events call agent_id
    std::uint32_t gpu;           // number among the GPUs; kNoId: a CPU
    std::uint32_t node;          // of the driver
  };
  const Entry* of_handle(std::uint64_t handle) const;  // null: not known
  const Entry* of_node(std::uint32_t node) const;
  unsigned count() const { return count_; }
  void add(const Agent& agent);

 private:
  Entry entries_[kMost];
  unsigned count_ = 0;
  mutable const Entry* last_ = nullptr;
};

}  // namespace dft::gpu::rocprof
