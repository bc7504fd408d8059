// SPDX-License-Identifier: MIT
// Purpose: the args of one record -> ,"args":{...}
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>

#include "encode/arg_keys.h"
#include "encode/json_text.h"
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

// What the caches of one encoder know about args.
struct ArgsTexts {
  StringCache& strings;
  KeyTexts& keys;
};

inline constexpr std::size_t kSmallRecord = 16 * 1024;

// Bytes of keys and values of a large record, escaped.
std::size_t large_texts_room(const model::RecordHeader& record);

// Bytes that the args of `record` can take at most. REQUIRES: record.size >= sizeof(RecordHeader).
inline std::size_t args_room(const model::RecordHeader& record) {
  constexpr std::size_t kRoomPerArg = 64;  // beside escaped bytes: comma, quotes, colon, number, suffix of its key
  constexpr std::size_t kRoomForFlags = 96;
  const std::size_t bytes = record.size - sizeof(model::RecordHeader);
  const std::size_t texts =
      __builtin_expect(bytes <= kSmallRecord, 1) ? bytes * text::kMaxEscapeFactor : large_texts_room(record);
  return texts + std::size_t{record.arg_count} * kRoomPerArg + kRoomForFlags;
}

// Writes behind `p`. REQUIRES: args_room() + sizeof(ArgsHead) + text::kSlack bytes of room, record.size >=
// sizeof(RecordHeader).
ArgsText put_args(char* p, const model::RecordHeader& record, ArgsTexts texts, const ArgsRules& rules);

// Walks all args without writing: true when they fill the record exactly and every hash is known.
bool args_are_consistent(const model::RecordHeader& record, const StringCache& strings);

}  // namespace dft::encode
