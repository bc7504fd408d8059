// SPDX-License-Identifier: MIT
// Purpose: layout of the args behind a record's header. Two forms:
//   with a schema     values only, in the order of the schema's fields: 8 bytes each, texts as a length word and their
//                     bytes padded to 8. The common form: keys stand once per process, not once per event.
//   self-describing   each arg a header, the key padded to 8, the value padded to 8. For what a schema cannot hold:
//                     relations, overwritten values of another size or type, odd keys, too many keys.
// Texts carry no terminating NUL. A schema's field list is itself a self-describing list. The values in it are empty
// but for constants: fields that have the same value in every record of the schema, and none of its own in the record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace dft::model {

using SchemaId = std::uint16_t;
inline constexpr SchemaId kNoArgs = 0;
inline constexpr SchemaId kSelfDescribing = 0xffff;
// Schemas without and with constants; more are not worth their memory. Their ids are 1..kMaxSchemaId.
inline constexpr SchemaId kMaxPlainSchemas = 2048;
inline constexpr SchemaId kMaxConstantSchemas = 4096;
inline constexpr SchemaId kMaxSchemaId = kMaxPlainSchemas + kMaxConstantSchemas;
inline constexpr unsigned kMaxFields = 32;  // of one schema

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

// A field whose key has 1 to 8 bytes, as two words. Type and length stand where SchemaTable wants them.
struct ShortField {
  std::uint64_t key_word;  // leading_word()
  std::uint64_t shape;

  ShortField(ArgType type, std::uint64_t word, std::uint32_t key_len)
      : key_word(word), shape(shape_of(type, key_len)) {}
  static std::uint64_t shape_of(ArgType type, std::size_t key_len) {
    return std::uint64_t{static_cast<std::uint8_t>(type)} << 48 | std::uint64_t{key_len} << 56;
  }
  ArgType type() const { return static_cast<ArgType>(shape >> 48 & 0xff); }
  // REQUIRES: the object outlives the view.
  std::string_view key() const { return {reinterpret_cast<const char*>(&key_word), shape >> 56}; }
};

// Copies a text into room of padded8(size) bytes and zeroes the padding. Most keys have one or two words, for which a
// call of memcpy costs more than the copy.
inline void copy_padded(char* to, const char* from, std::size_t size) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  if (size == 0) return;
  std::uint64_t last;
  if (size <= 8) {
    last = leading_word(from, size);
  } else {
    const std::size_t whole = (size - 1) & ~std::size_t{7};
    for (const char* end = to + whole; to != end; to += 8, from += 8) {
      std::uint64_t word;
      std::memcpy(&word, from, 8);
      std::memcpy(to, &word, 8);
    }
    // Its 8 bytes end where the text does: what they share with the word before is shifted out.
    std::memcpy(&last, from + (size - whole) - 8, 8);
    last >>= 8 * (8 - (size - whole));
  }
  std::memcpy(to, &last, 8);
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

// Copies a value into room of padded8(size) bytes and zeroes the padding.
inline void copy_value(char* to, const void* from, std::size_t size) {
  if (size <= 64) {
    copy_padded(to, static_cast<const char*>(from), size);
    return;
  }
  std::memcpy(to, from, size);
  std::memset(to + size, 0, padded8(size) - size);
}

// Writes one arg at `at`, which has arg_size() bytes of room, 8-byte aligned. REQUIRES: key fits 16 bits.
inline void put_arg(char* at, ArgType type, std::string_view key, const void* value, std::size_t value_len) {
  const std::uint64_t header = arg_header_word(type, key.size(), value_len);
  std::memcpy(at, &header, sizeof header);
  copy_padded(at + sizeof header, key.data(), key.size());
  copy_value(at + sizeof header + padded8(key.size()), value, value_len);
}

// Keys that the format itself uses within args.
inline bool is_reserved_key(std::string_view key) {
  switch (key.size()) {
    case 5: return key == "hhash";
    case 7: return key == "instant";
    case 9: return key == "relations";
    case 11: return key == "open_at_end";
    default: return false;
  }
}

inline constexpr std::size_t kMaxPlainKey = 64;
// True for a key that a schema may hold: short, and written as it is, whatever record it stands in.
inline bool is_plain_key(std::string_view key) {
  if (key.empty() || key.size() > kMaxPlainKey || is_reserved_key(key)) return false;
  for (const char c : key) {
    if (c < ' ' || c > '~' || c == '"' || c == '\\') return false;
  }
  return true;
}

constexpr bool is_text(ArgType type) { return type == ArgType::kString || type == ArgType::kJson; }
constexpr bool fits_constant(ArgType type) {
  return type >= ArgType::kInt64 && type <= ArgType::kHash && !is_text(type);
}
constexpr bool fits_schema(ArgType type) {
  return type >= ArgType::kInt64 && type <= ArgType::kJson && type != ArgType::kRelation;
}

// The fields of a schema. Without fields: kNoArgs.
struct SchemaView {
  const char* fields = nullptr;
  std::size_t bytes = 0;
};

// One decoded arg; key and value point into the record, or the key (and the value of a constant) into its schema.
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

// Walks args of either form. `next` returns false at the end, and also when they are inconsistent (recovered memory):
// `at_end` tells which.
class ArgCursor {
 public:
  ArgCursor() = default;
  ArgCursor(const char* args, std::size_t bytes) : at_(args), left_(bytes) {}  // self-describing
  ArgCursor(const char* values, std::size_t bytes, SchemaView schema)
      : at_(values), left_(bytes), has_schema_(true), field_(schema.fields), fields_left_(schema.bytes) {}

  bool next(ArgView& out) { return has_schema_ ? next_value(out) : take_header(at_, left_, out); }
  bool at_end() const { return left_ == 0 && fields_left_ == 0; }
  const char* at() const { return at_; }

 private:
  // Passes one self-describing arg.
  static bool take_header(const char*& at, std::size_t& left, ArgView& out) {
    if (left < sizeof(ArgHeader)) return false;
    ArgHeader header;
    std::memcpy(&header, at, sizeof header);
    const std::size_t size = arg_size(header.key_len, header.value_len);
    if (size > left || header.type < ArgType::kInt64 || header.type > ArgType::kDropped) return false;
    out.type = header.type;
    out.key = at + sizeof header;
    out.key_len = header.key_len;
    out.value = out.key + padded8(header.key_len);
    out.value_len = header.value_len;
    at += size;
    left -= size;
    return true;
  }

  bool next_value(ArgView& out) {
    const char* field = field_;
    std::size_t fields_left = fields_left_;
    if (!take_header(field, fields_left, out)) return false;
    const bool constant = out.value_len != 0;
    if (!constant && left_ < 8) return false;
    field_ = field;
    fields_left_ = fields_left;
    if (constant) return true;
    out.value = at_;
    out.value_len = 8;
    std::size_t size = 8;
    if (is_text(out.type)) {
      const std::uint64_t length = out.bits();
      if (length > left_ - 8 || padded8(length) > left_ - 8) return false;
      out.value = at_ + 8;
      out.value_len = length;
      size += padded8(length);
    }
    at_ += size;
    left_ -= size;
    return true;
  }

  const char* at_ = nullptr;
  std::size_t left_ = 0;
  bool has_schema_ = false;
  const char* field_ = nullptr;
  std::size_t fields_left_ = 0;
};

}  // namespace dft::model
