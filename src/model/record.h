// SPDX-License-Identifier: MIT
// Purpose: layout of a record, the form in which an event travels from the thread that made it to the encoder.
// Threads: written by the owning thread, read by the drain after the chunk's `committed` was stored with release.
// Invariants:
//   1. Records are 8-byte aligned and `size` is a multiple of 8 that covers header and args.
//   2. Every arg is a header, the key padded to 8, then the value padded to 8; strings carry no terminating NUL.
//   3. No pointer stands in a record: a chunk is decodable in another process (src/model/crash_file.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace dft::model {

using SiteId = std::uint32_t;    // id of a (name, category, layer) triple; 0 = none
using StringId = std::uint32_t;  // id of an interned string with its hash; 0 = none

enum class RecordKind : std::uint8_t {
  kEvent = 1,     // COMPLETE: begin, end, args
  kCounter = 2,   // COUNTER: begin, args
  kMetadata = 3,  // METADATA: name and args, no times
};

enum RecordFlag : std::uint8_t {
  kFlagInstant = 1,         // dur 0, arg instant:1
  kFlagOpenAtEnd = 2,       // arg open_at_end:1
  kFlagNanoseconds = 8,     // begin and end are nanoseconds of the trace clock already, not ticks
  kFlagMetadataEvent = 16,  // a region of event_type 1: updates are ignored
};

struct RecordHeader {
  std::uint32_t size;
  RecordKind kind;
  std::uint8_t flags;  // RecordFlag bits
  std::uint16_t arg_count;
  SiteId site;
  std::uint32_t lane;   // 0: the tid of the chunk; else the tid to write (GPU lanes)
  std::uint64_t begin;  // ticks (base/clock.h)
  std::uint64_t end;
};
static_assert(sizeof(RecordHeader) == 32);

enum class ArgType : std::uint8_t {
  kInt64 = 1,
  kUint64 = 2,
  kDouble = 3,
  kBool = 4,  // written 0 or 1 as the format's other booleans
  kString = 5,
  kHash = 6,      // value: StringId; written as its 16 hex digits, its FH/SH/HH record comes first in the file
  kRelation = 7,  // key: relation name, value: entity id; collected into args.relations
  kJson = 8,      // bytes are a complete JSON value made by the tracer itself
  kDropped = 9,   // overwritten by a later arg of the same key; not written
};

struct ArgHeader {
  ArgType type;
  std::uint8_t flags;
  std::uint16_t key_len;
  std::uint32_t value_len;  // bytes: 8 for scalars, the length for kString and kJson
};
static_assert(sizeof(ArgHeader) == 8);

constexpr std::size_t padded8(std::size_t n) { return (n + 7) & ~std::size_t{7}; }
constexpr std::size_t arg_size(std::size_t key_len, std::size_t value_len) {
  return sizeof(ArgHeader) + padded8(key_len) + padded8(value_len);
}

// The first (up to 8) bytes of a text as one word, the rest zero. Reads nothing behind the text.
inline std::uint64_t leading_word(const char* text, std::size_t size) {
  std::uint64_t word = 0;
  if (size >= 8) {
    std::memcpy(&word, text, 8);
  } else if (size >= 4) {
    std::uint32_t low;
    std::uint32_t high;
    std::memcpy(&low, text, 4);
    std::memcpy(&high, text + size - 4, 4);
    word = low | std::uint64_t{high} << (8 * (size - 4));
  } else if (size != 0) {
    word = static_cast<unsigned char>(text[0]);
    word |= std::uint64_t{static_cast<unsigned char>(text[size / 2])} << (8 * (size / 2));
    word |= std::uint64_t{static_cast<unsigned char>(text[size - 1])} << (8 * (size - 1));
  }
  return word;
}

// Copies a text into room of padded8(size) bytes and zeroes the padding. Most keys have one or two words, for which a
// call of memcpy costs more than the copy.
inline void copy_padded(char* to, const char* from, std::size_t size) {
  while (size > 8) {
    std::memcpy(to, from, 8);
    to += 8;
    from += 8;
    size -= 8;
  }
  if (size == 0) return;
  const std::uint64_t word = leading_word(from, size);
  std::memcpy(to, &word, 8);
}

// Copies whole words one by one. What was just stored as words is still in the store buffer: wider loads, as memcpy
// would make, have to wait until it has drained.
inline void copy_words(char* to, const char* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, from + at, 8);
    __asm__("" : "+r"(word));  // keeps the compiler from making a memcpy of the loop
    std::memcpy(to + at, &word, 8);
  }
}

// An arg's header as the word that it is in memory.
inline std::uint64_t arg_header_word(ArgType type, std::size_t key_len, std::size_t value_len) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  return std::uint64_t{static_cast<std::uint8_t>(type)} | std::uint64_t{key_len & 0xffff} << 16 |
         std::uint64_t{value_len} << 32;
}

// Writes one arg at `at`, which has arg_size() bytes of room, 8-byte aligned. REQUIRES: key fits 16 bits.
inline void put_arg(char* at, ArgType type, std::string_view key, const void* value, std::size_t value_len) {
  const std::uint64_t header = arg_header_word(type, key.size(), value_len);
  std::memcpy(at, &header, sizeof header);
  copy_padded(at + sizeof header, key.data(), key.size());
  char* value_at = at + sizeof header + padded8(key.size());
  if (value_len <= 64) {
    copy_padded(value_at, static_cast<const char*>(value), value_len);
  } else {
    std::memcpy(value_at, value, value_len);
  }
}

// One decoded arg; points into the record.
struct ArgView {
  ArgType type;
  const char* key;
  std::size_t key_len;
  const char* value;
  std::size_t value_len;
  std::uint64_t bits() const {
    std::uint64_t v = 0;
    std::memcpy(&v, value, sizeof v);
    return v;
  }
};

// Walks the args of a record. `next` returns false at the end, and also when the record is inconsistent (recovered
// memory).
class ArgCursor {
 public:
  ArgCursor(const char* args, std::size_t bytes) : at_(args), left_(bytes) {}
  explicit ArgCursor(const RecordHeader& record)
      : ArgCursor(reinterpret_cast<const char*>(&record + 1), record.size - sizeof(RecordHeader)) {}
  bool next(ArgView& out) {
    if (left_ < sizeof(ArgHeader)) return false;
    ArgHeader header;
    std::memcpy(&header, at_, sizeof header);
    const std::size_t size = arg_size(header.key_len, header.value_len);
    if (size > left_ || header.type < ArgType::kInt64 || header.type > ArgType::kDropped) return false;
    out.type = header.type;
    out.key = at_ + sizeof header;
    out.key_len = header.key_len;
    out.value = out.key + padded8(header.key_len);
    out.value_len = header.value_len;
    at_ += size;
    left_ -= size;
    return true;
  }

 private:
  const char* at_;
  std::size_t left_;
};

}  // namespace dft::model
