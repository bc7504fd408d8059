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
// Threads: one owner. Invariant: holds only keys that are written as they are, whatever record they stand in, and only
// with types whose args have a text.
class KeyTexts {
 public:
  struct Known {
    char* put(char* p) const {
      std::memcpy(p, text, sizeof text);
      return p + size;
    }
    std::uint64_t word = 0;  // with its padding, which recovered memory need not have zeroed
    std::uint32_t head = 0;  // first half of the arg's header: type, flags, length of the key
    std::uint32_t size = 0;  // of the text
    char text[16];           // ,"key":
  };

  KeyTexts() { known_[place_of(0)].word = 1; }  // a word of another place: no arg matches a place never used

  // Of the arg at `at`, null when it has to be looked at. REQUIRES: `left` readable bytes, one header or more.
  const Known* find(const char* at, std::size_t left) const {
    if (left < sizeof(model::ArgHeader) + 8) return nullptr;
    std::uint64_t word;
    std::uint32_t head;
    std::memcpy(&word, at + sizeof(model::ArgHeader), sizeof word);
    std::memcpy(&head, at, sizeof head);
    const Known& known = known_[place_of(word)];
    return known.word == word && known.head == head ? &known : nullptr;
  }

  // As put_key() for the arg at `at`, and remembers the key. REQUIRES: the arg is consistent.
  char* put_unknown(char* p, const model::RecordHeader& record, const char* at, unsigned number);

 private:
  static constexpr std::size_t kAround = 4;  // comma, quotes, colon
  static constexpr std::size_t place_of(std::uint64_t word) { return word * 0x9e3779b97f4a7c15ull >> 58; }

  Known known_[64];
};

}  // namespace dft::encode
