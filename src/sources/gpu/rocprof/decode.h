// SPDX-License-Identifier: MIT
// Purpose: the library's records -> NamedActivity values. The layout is that of the generation, and holds only if the
//          record says at least its size; what fits none is counted and told.
// Threads: the decoding thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sources/gpu/activity.h"
#include "sources/gpu/buffer_pool.h"
#include "sources/gpu/flat_map.h"
#include "sources/gpu/named_activity.h"
#include "sources/gpu/rocprof/agents.h"
#include "sources/gpu/rocprof/capture.h"
#include "sources/gpu/rocprof/declarations.h"
#include "sources/gpu/rocprof/fields.h"
#include "sources/gpu/rocprof/kinds.h"

namespace dft::gpu::rocprof {

// One record as it lies in a frame.
class Record {
 public:
  Record(const unsigned char* data, std::size_t size) : data_(data), size_(size) {}
  // False when it has less than `least` bytes; what is beyond its end is zero in *out.
  template <typename T>
  bool get(T* out, std::size_t least = sizeof(T)) const {
    if (size_ < least) return false;
    std::memset(static_cast<void*>(out), 0, sizeof(T));
    std::memcpy(static_cast<void*>(out), data_, size_ < sizeof(T) ? size_ : sizeof(T));
    return true;
  }
  // Of a generation whose records do not grow any more.
  template <typename T>
  bool get_exactly(T* out, std::size_t size = sizeof(T)) const {
    return size_ == size && get(out, size < sizeof(T) ? size : sizeof(T));
  }
  // Its last bytes.
  template <typename T>
  bool get_end(T* out) const {
    if (size_ < sizeof(T)) return false;
    std::memcpy(static_cast<void*>(out), data_ + size_ - sizeof(T), sizeof(T));
    return true;
  }
  std::size_t size() const { return size_; }

 private:
  const unsigned char* data_;
  std::size_t size_;
};

class Decoder {
 public:
  struct Choice {
    std::uint32_t kinds = kAllKinds;  // bits
    Generation generation = Generation::k1;
    bool resolves_calls = false;  // HSA calls are traced: work carries their ids, and refers to the HIP call instead
  };
  void configure(const Choice& choice, const KindTable& kinds, const Agents& agents, Symbols& symbols);
  void decode(const RawBuffer& buffer, ActivitySink& sink);
  // Kernels whose symbol has not come yet are held back for it, for some rounds; with `all` none is held any longer.
  void release_waiting(ActivitySink& sink, bool all);

 private:
  struct Unknown {
    std::uint32_t kind;
    std::uint64_t size;
    std::uint64_t count;
  };
  struct Waiting {
    KernelRecord record;
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
  static constexpr std::uint32_t kRounds = 2;

  bool decode_record(const Record& record, unsigned kind, ActivitySink& sink);
  bool decode_call(const Record& record, NamedActivity& out);
  bool decode_kernel(const Record& record, NamedActivity& out, ActivitySink& sink);
  void fill_kernel(const KernelRecord& kernel, NamedActivity& out) const;
  bool decode_copy(const Record& record, NamedActivity& out) const;
  bool decode_allocation(const Record& record, NamedActivity& out) const;
  bool decode_scratch(const Record& record, NamedActivity& out) const;
  bool decode_ompt(const Record& record, NamedActivity& out) const;
  bool decode_runtime(const Record& record, NamedActivity& out) const;
  // decode_memory.cc
  bool decode_page_migration(const Record& record, NamedActivity& out, ActivitySink& sink) const;
  bool decode_page_migration_05(const Record& record, NamedActivity& out) const;
  bool decode_page_migration_06(const Record& record, NamedActivity& out, ActivitySink& sink) const;
  bool decode_kfd(const Record& record, Family family, NamedActivity& out, ActivitySink& sink) const;

  bool is_1() const { return choice_.generation == Generation::k1; }
  std::uint64_t call_of(std::uint64_t internal, std::uint64_t external) const;
  void place_on(const Agents::Entry* agent, LaneKind lane, NamedActivity& out) const;
  std::uint64_t agent_number(Id agent) const;
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

// Adds an arg; those of a record come in the table's order.
inline void add(NamedActivity& out, Field field, std::uint64_t value) { out.add(static_cast<unsigned>(field), value); }
inline void add_signed(NamedActivity& out, Field field, std::int64_t value) {
  add(out, field, static_cast<std::uint64_t>(value));
}

}  // namespace dft::gpu::rocprof
