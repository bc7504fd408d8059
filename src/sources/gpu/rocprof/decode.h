// SPDX-License-Identifier: MIT
// Purpose: the library's records -> NamedActivity values. The layout is that of the generation, and holds only if the
//          record says at least its size; what fits none is counted and told.
// Threads: the decoding thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sources/gpu/activity.h"
#include "sources/gpu/buffer_pool.h"
#include "sources/gpu/flat_map.h"
#include "sources/gpu/named_activity.h"
#include "sources/gpu/rocprof/agents.h"
#include "sources/gpu/rocprof/capture.h"
#include "sources/gpu/rocprof/declarations.h"
#include "sources/gpu/rocprof/kinds.h"

namespace dft::gpu::rocprof {

class Decoder {
 public:
  struct Choice {
    std::uint32_t kinds = kAllKinds;  // bits
    Generation generation = Generation::k1;
    bool resolves_calls = false;  // HSA calls are traced: work carries their ids, and refers to the HIP call instead
  };
  void configure(const Choice& choice, const KindTable& kinds, const Agents& agents, Symbols& symbols);
  void decode(const RawBuffer& buffer, ActivitySink& sink);
  // Kernels whose symbol has not come are held back for it; now they are told with or without.
  void release_waiting(ActivitySink& sink, bool all);

 private:
  struct Unknown {
    std::uint32_t kind;
    std::uint64_t size;
    std::uint64_t count;
  };
  struct Waiting {
    KernelRecord record;
    std::uint64_t size;
    std::uint32_t rounds;
  };
  // A HSA call's parent, for work that refers to the call.
  struct Parent {
    std::uint64_t call;
    std::uint64_t ancestor;
  };
  static constexpr unsigned kUnknownKinds = 16;
  static constexpr std::uint32_t kParents = 1 << 14;
  static constexpr std::size_t kMostWaiting = 1 << 12;

  bool decode_record(const unsigned char* data, std::size_t size, unsigned kind, ActivitySink& sink);
  std::uint64_t call_of(const Correlation2& correlation) const;
  void count_unknown(std::uint32_t kind, std::uint64_t size);
  void report_unknown(ActivitySink& sink);

  Choice choice_;
  const KindTable* kinds_ = nullptr;
  const Agents* agents_ = nullptr;
  Symbols* symbols_ = nullptr;
  Parent* parents_ = nullptr;
  Waiting* waiting_ = nullptr;
  std::size_t waiting_count_ = 0;
  Unknown unknown_[kUnknownKinds];
  unsigned unknown_count_ = 0;
};

}  // namespace dft::gpu::rocprof
