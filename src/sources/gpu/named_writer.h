// SPDX-License-Identifier: MIT
// Purpose: NamedActivity values -> records. ActivityWriter's other half, with its clock, names and lanes.
// Threads: one owner, the decoding thread. No allocation but for a name, lane or arg list that is new.
#pragma once

#include <cstdint>

#include "model/record.h"
#include "sources/gpu/backend.h"
#include "sources/gpu/flat_map.h"
#include "sources/gpu/named_activity.h"

namespace dft::gpu {

// What is added to a record behind its own fields, in this order.
inline constexpr unsigned kSymbolHashBit = 61, kDurNsBit = 62, kClockSuspectBit = 63;

class NamedSchemas {
 public:
  void configure(NamedFields fields) {
    fields_ = fields;
    known_.clear();
    for (Last& last : last_) last = Last{};
  }
  // `kind`: records of one kind mostly have the same fields. kSelfDescribing: no memory.
  model::SchemaId of(std::uint64_t keys, unsigned kind) {
    Last& last = last_[kind];
    if (keys != last.keys) last = {keys, look_up(keys)};
    return last.schema;
  }

 private:
  model::SchemaId look_up(std::uint64_t keys);
  struct Last {
    std::uint64_t keys = 0;
    model::SchemaId schema = model::kNoArgs;
  };
  NamedFields fields_;
  FlatMap<WordKey, model::SchemaId> known_;
  Last last_[kNamedKinds];
};

class NamedSites {
 public:
  void configure(Backend& backend);
  model::SiteId of(unsigned kind, unsigned operation);

 private:
  Backend* backend_ = nullptr;
  model::SiteId* sites_ = nullptr;  // [kNamedKinds][kNamedOperations]
};

}  // namespace dft::gpu
