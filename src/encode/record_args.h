// SPDX-License-Identifier: MIT
// Purpose: the args of one record -> ,"args":{...}
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>

#include "encode/json_text.h"
#include "encode/schema_texts.h"
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

inline constexpr std::size_t kSmallRecord = 16 * 1024;

// Bytes of keys and values of a large record, escaped. `fields`: of its schema, if it has one.
std::size_t large_texts_room(const model::RecordHeader& record, unsigned fields);

// Bytes that the args of `record` can take at most. REQUIRES: record.size >= sizeof(RecordHeader). `schema`: of the
// record, null when it has none.
inline std::size_t args_room(const model::RecordHeader& record, const SchemaText* schema) {
  constexpr std::size_t kRoomForFlags = 96;
  const std::size_t bytes = model::args_bytes(record);
  const std::size_t keys = schema != nullptr ? schema->room : 0;
  // A header or a scalar has 8 bytes, so the factor leaves room for digits, quotes, and the suffix of an odd key.
  if (__builtin_expect(bytes <= kSmallRecord, 1)) return bytes * text::kMaxEscapeFactor + keys + kRoomForFlags;
  return large_texts_room(record, schema != nullptr ? schema->fields : 0) + keys + kRoomForFlags;
}

// Writes behind `p`. REQUIRES: args_room() + sizeof(ArgsHead) + text::kSlack bytes of room, record.size >=
// sizeof(RecordHeader), `schema` as for args_room().
ArgsText put_args(char* p, const model::RecordHeader& record, const SchemaText* schema, StringCache& strings,
                  const ArgsRules& rules);

// Walks all args without writing: true when they fill the record exactly and every hash is known.
bool args_are_consistent(model::ArgCursor args, const StringCache& strings);

}  // namespace dft::encode
