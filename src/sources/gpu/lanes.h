// SPDX-License-Identifier: MIT
// Purpose: the rows on which GPU work stands: one number per (device, context, stream), with a thread_name record that
//          says what it is.
// Threads: one owner each, a vendor's decoding thread.
// Invariant: numbers count from 2^30 + 1 in each process, over all vendors; kernel thread ids end far below.
#pragma once

#include <cstdint>

#include "model/trace_format.h"
#include "sources/gpu/activity.h"
#include "sources/gpu/flat_map.h"
#include "sources/gpu/lane_kind.h"

namespace dft::gpu {

class Lanes {
 public:
  static constexpr std::uint32_t kFirst = (1u << 30) + 1;

  ~Lanes() { forget(); }
  void configure(model::Layer layer, const char* overhead_name) {
    layer_ = layer;
    overhead_name_ = overhead_name;
  }
  // Emits the thread_name record when the lane is new.
  std::uint32_t of(LaneKind kind, std::uint32_t device, std::uint32_t context, std::uint32_t stream);

  // What is known about contexts. A second context of a device changes the names of its lanes.
  void add_context(std::uint32_t context, std::uint32_t device);
  std::uint32_t device_of(std::uint32_t context);  // kNoId: not known

  std::size_t count() const { return lanes_.size(); }
  void forget();  // a new trace file: every lane is named again

 private:
  struct LaneKey {
    std::uint32_t kind, device, context, stream;
    std::uint64_t hash() const {
      return mix((std::uint64_t{device} << 32 | stream) ^ mix(std::uint64_t{context} << 8 | kind));
    }
    bool operator==(const LaneKey& o) const {
      return kind == o.kind && device == o.device && context == o.context && stream == o.stream;
    }
  };
  struct DeviceState {
    std::uint32_t contexts;
  };
  void name(const LaneKey& key, std::uint32_t lane);
  void name_again(std::uint32_t device);

  model::Layer layer_ = model::Layer::kCuda;
  const char* overhead_name_ = "CUPTI overhead";
  FlatMap<LaneKey, std::uint32_t> lanes_;
  FlatMap<WordKey, std::uint32_t> contexts_;  // context -> device
  FlatMap<WordKey, DeviceState> devices_;
  LaneKey last_key_{};
  std::uint32_t last_ = 0;
};

}  // namespace dft::gpu
