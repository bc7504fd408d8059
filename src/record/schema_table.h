// SPDX-License-Identifier: MIT
// Purpose: which schema a list of args has once one more arg stands behind it. Regions get their args one by one, so
//          schemas are a tree whose root is kNoArgs and whose edges are (type, key).
// Threads: look-ups are lock-free, any thread, signal handlers included; additions take one lock with signals blocked.
// Invariants:
//   1. An edge never changes once it is seen, and leads to a larger id. A key that the schema has already has no edge.
//   2. Edges are bounded: keys made up at run time fill the table once, later ones make self-describing args.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/futex_lock.h"
#include "model/args.h"
#include "record/definitions_log.h"

namespace dft::record {

class SchemaTable {
 public:
  explicit constexpr SchemaTable(DefinitionsLog& definitions) : definitions_(definitions) {}

  // How much larger the id of the next schema is. 0 when extend() has to be asked: the edge is not known, or not in its
  // first place. `from`: a schema, or anything larger than 16 bits, which has no edges.
  [[gnu::always_inline]] std::uint64_t step_from(std::uint32_t from, const model::ShortField& field) const {
    const Edge& place = edges_[place_of(from, field.key_word)];
    const std::uint64_t step = place.edge.load(std::memory_order_acquire) ^ edge_of(from, field.shape);
    // One comparison for both: too far away, and 0, at which a field of no type and no key finds an empty place.
    return __builtin_expect(step - 1 < kSteps - 1 && place.key_word == field.key_word, 1) ? step : 0;
  }

  // The same for any key, adding the edge if need be. `from` itself: the schema has a field of that type and key.
  // kSelfDescribing when a schema cannot hold the arg.
  model::SchemaId extend(model::SchemaId from, model::ArgType type, std::string_view key);

  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }
  void reset_after_fork() { lock_.reset_after_fork(); }

 private:
  struct Edge {
    std::uint64_t key_word;           // of keys above 8 bytes: their hash
    std::atomic<std::uint64_t> edge;  // step to the target, from, ShortField::shape_of(); 0: none
  };
  static constexpr std::size_t kPlaces = 8192;
  static constexpr std::uint32_t kMaxEdges = model::kMaxPlainSchemas;  // every edge makes a schema
  static constexpr std::uint64_t kSteps = 1 << 16;

  static std::uint64_t edge_of(std::uint32_t from, std::uint64_t shape) { return std::uint64_t{from} << 16 | shape; }
  static std::size_t place_of(std::uint32_t from, std::uint64_t key_word) {
    return (key_word + from) * 0x9e3779b97f4a7c15ull >> 51;
  }
  static_assert(kPlaces == std::uint64_t{1} << (64 - 51));

  model::SchemaId find(model::SchemaId from, model::ArgType type, std::string_view key) const;
  model::SchemaId add(model::SchemaId from, model::SchemaView fields, model::ArgType type, std::string_view key);

  DefinitionsLog& definitions_;
  base::FutexLock lock_;
  std::atomic<std::uint32_t> edge_count_{0};
  Edge edges_[kPlaces] = {};
};

}  // namespace dft::record
