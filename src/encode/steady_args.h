// SPDX-License-Identifier: MIT
// Purpose: the args of call sites with many fields of which few change from one record to the next (GPU work): what
//          stays the same is rendered once, with the keys of what changes between.
// Threads: one owner.
// Invariants: a text is used only for a record whose steady values are all equal to those it was made from; hashes in
// it
//             are defined in the file, so it must be cleared together with the strings (StringCache).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "encode/schema_texts.h"
#include "encode/string_cache.h"
#include "model/record.h"

namespace dft::encode {

class SteadyArgs {
 public:
  static constexpr unsigned kLeast = 4;  // fields from which on it pays
  static constexpr unsigned kMost = 32;

  // The values of the record with their keys, behind `p`; null when they are not known, or not steady: then they are
  // written in the general way and given to learn(). Room as for put_args().
  char* put(char* p, const model::RecordHeader& record) const;
  // REQUIRES: the record was written, so it fits its schema and its hashes are defined.
  void learn(const model::RecordHeader& record, const SchemaText& schema, StringCache& strings);

  void clear();
  void forget() { slots_.forget(); }  // fork child: without unmapping

 private:
  static constexpr std::size_t kSlots = 256;
  static constexpr std::size_t kTextSize = 1024;

  enum class State : std::uint8_t { kEmpty, kSeen, kReady, kRefused };
  struct Part {
    std::uint16_t offset;
    std::uint16_t size;
    std::uint16_t field;  // whose value follows
    bool is_signed;
  };
  struct Slot {
    model::SiteId site;
    model::SchemaId schema;
    State state;
    std::uint8_t parts;
    std::uint16_t fields;
    std::uint16_t tail_offset, tail_size;  // text behind the last value
    std::uint32_t changes;                 // bit per field
    std::uint64_t values[kMost];
    Part part[kMost];
    char text[kTextSize + 64];  // copied in whole pieces
  };

  Slot& slot_of(const model::RecordHeader& record) const {
    const std::size_t at = (record.site ^ std::size_t{record.schema} * 37) & (kSlots - 1);
    return reinterpret_cast<Slot*>(const_cast<char*>(slots_.data()))[at];
  }
  bool prepare();
  static void take(Slot& slot, const model::RecordHeader& record, const SchemaText& schema);
  static bool render(Slot& slot, const SchemaText& schema, StringCache& strings);

  base::Buffer slots_;
};

}  // namespace dft::encode
