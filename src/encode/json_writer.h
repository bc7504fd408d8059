// SPDX-License-Identifier: MIT
// Purpose: the pieces of JSON text: escaped strings, exact numbers, comma handling. No locale, no malloc.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/buffer.h"

namespace dft::encode {

// Appends `text` between quotes, valid UTF-8 and escaped; each invalid byte becomes U+FFFD. True when nothing was
// replaced.
bool append_json_string(std::string_view text, base::Buffer& out);
// The same without quotes (for prefixes that are rendered once).
bool append_json_escaped(std::string_view text, base::Buffer& out);
void append_uint(std::uint64_t value, base::Buffer& out);
void append_int(std::int64_t value, base::Buffer& out);
void append_double(double value, base::Buffer& out);  // shortest text that reads back equal; NaN and infinities: null
void append_hex16(std::uint64_t value, base::Buffer& out);  // 16 lower-case digits, no quotes

// Builds an object member by member; the caller decides whether the outermost braces are written.
class JsonWriter {
 public:
  explicit JsonWriter(base::Buffer& out) : out_(out) {}
  JsonWriter& key(std::string_view name);          // with the comma that it needs
  JsonWriter& escaped_key(std::string_view text);  // the same for text of append_json_escaped
  JsonWriter& string(std::string_view value);
  JsonWriter& number(std::uint64_t value);
  JsonWriter& number(std::int64_t value);
  JsonWriter& number(int value) { return number(static_cast<std::int64_t>(value)); }
  JsonWriter& number(double value);
  JsonWriter& flag(bool value) { return number(std::uint64_t{value}); }  // 0 or 1
  JsonWriter& raw(std::string_view json);
  JsonWriter& raw_members(std::string_view members);  // `"a":1,"b":2` as made by another writer; may be empty
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();

 private:
  void before_value();
  base::Buffer& out_;
  bool comma_ = false;  // a comma goes before the next member
  bool after_key_ = false;
};

}  // namespace dft::encode
