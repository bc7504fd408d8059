// SPDX-License-Identifier: MIT
// Purpose: keys of self-describing args, so that no object has a key twice: a key of the application that the format
// uses itself gets a
//          trailing underscore, and keys that differ only in invalid bytes get the number of their arg.
#pragma once

#include "encode/json_text.h"
#include "model/record.h"

namespace dft::encode {

// Ends the key that stands, escaped but unclosed, before `p`.
char* put_odd_key_end(char* p, const model::RecordHeader& record, const model::ArgView& arg, unsigned number,
                      bool valid);

// Writes ,"key": for the arg with that number. Room: escaped key + 16.
inline char* put_key(char* p, const model::RecordHeader& record, const model::ArgView& arg, unsigned number) {
  p = text::put_literal(p, ",\"");
  const text::Escaped key = text::put_escaped_padded(p, arg.key, arg.key_len);
  p = key.end;
  if (__builtin_expect(!key.valid || model::is_reserved_key({arg.key, arg.key_len}), 0)) {
    p = put_odd_key_end(p, record, arg, number, key.valid);
  }
  return text::put_literal(p, "\":");
}

}  // namespace dft::encode
