// SPDX-License-Identifier: MIT
// Purpose: keys of args, so that no object has a key twice: a key of the application that the format uses itself gets a
//          trailing underscore, and keys that differ only in invalid bytes get the number of their arg.
#pragma once

#include <cstring>
#include <string_view>

#include "encode/json_text.h"
#include "model/record.h"

namespace dft::encode {

inline bool is_reserved_key(const char* key, std::size_t size) {
  const auto is = [key](std::string_view name) { return std::memcmp(key, name.data(), name.size()) == 0; };
  switch (size) {
    case 5: return is("hhash");
    case 7: return is("instant");
    case 9: return is("relations");
    case 11: return is("open_at_end");
    default: return false;
  }
}

// Ends the key that stands, escaped but unclosed, before `p`.
char* put_odd_key_end(char* p, const model::RecordHeader& record, const model::ArgView& arg, unsigned number,
                      bool valid);

// Writes ,"key": for the arg with that number. Room: escaped key + 16.
inline char* put_key(char* p, const model::RecordHeader& record, const model::ArgView& arg, unsigned number) {
  p = text::put_literal(p, ",\"");
  const text::Escaped key = text::put_escaped_padded(p, arg.key, arg.key_len);
  p = key.end;
  if (__builtin_expect(!key.valid || is_reserved_key(arg.key, arg.key_len), 0)) {
    p = put_odd_key_end(p, record, arg, number, key.valid);
  }
  return text::put_literal(p, "\":");
}

// The short keys written last, found by their bytes: most lines repeat keys of the lines before.
// Threads: one owner. Invariant: holds only keys that are written as they are, whatever record they stand in.
class KeyTexts {
 public:
  // As put_key().
  char* put(char* p, const model::RecordHeader& record, const model::ArgView& arg, unsigned number) {
    if (__builtin_expect(arg.key_len - 1 >= 8, 0)) return put_key(p, record, arg, number);
    std::uint64_t word;  // with its padding, which recovered memory need not have zeroed
    std::memcpy(&word, arg.key, 8);
    Slot& slot = slots_[word * 0x9e3779b97f4a7c15ull >> 58];
    if (__builtin_expect(slot.word != word || slot.size != arg.key_len + kAround, 0)) {
      return put_new(slot, word, p, record, arg, number);
    }
    std::memcpy(p, slot.text, 16);
    return p + slot.size;
  }

 private:
  static constexpr std::size_t kAround = 4;  // comma, quotes, colon
  struct Slot {
    std::uint64_t word = 0;
    std::uint64_t size = 0;  // of the text; 0: empty
    char text[16];
  };

  char* put_new(Slot& slot, std::uint64_t word, char* p, const model::RecordHeader& record, const model::ArgView& arg,
                unsigned number);

  Slot slots_[64];
};

}  // namespace dft::encode
