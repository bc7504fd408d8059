// SPDX-License-Identifier: MIT
// Purpose: the args of one record -> ,"args":{...}
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>

#include "encode/string_cache.h"
#include "model/record.h"

namespace dft::encode {

// ,"args":{"hhash":"<16 digits>"
struct ArgsHead {
  static constexpr std::size_t kSize = 35;
  char text[40];  // copied whole
};

struct ArgsRules {
  const ArgsHead& head;
  bool values = true;   // false: only relations are written
  bool always = false;  // true: the object is written though it holds nothing but hhash
};

enum class ArgsOutcome : std::uint8_t { kWritten, kInconsistent, kNeedsDefinitions };

struct ArgsText {
  char* end;
  ArgsOutcome outcome;  // anything but kWritten: the bytes behind `p` are worthless
};

// Bytes that the args of `record` can take at most.
std::size_t args_room(const model::RecordHeader& record);

// Writes behind `p`. REQUIRES: args_room() + sizeof(ArgsHead) + text::kSlack bytes of room, record.size >=
// sizeof(RecordHeader).
ArgsText put_args(char* p, const model::RecordHeader& record, StringCache& strings, const ArgsRules& rules);

// Walks all args without writing: true when they fill the record exactly and every hash is known.
bool args_are_consistent(const model::RecordHeader& record, const StringCache& strings);

}  // namespace dft::encode
