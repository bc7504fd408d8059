// SPDX-License-Identifier: MIT
// Purpose: which byte sequences are UTF-8 (Unicode 15, table 3-7): no overlong forms, surrogates, or values above
//          U+10FFFF.
#pragma once

#include <string_view>

namespace dft::encode {

// Length of the well-formed multi-byte sequence at `s`, 0 when there is none. REQUIRES: s < end, *s >= 0x80.
inline unsigned utf8_sequence(const unsigned char* s, const unsigned char* end) {
  const auto left = end - s;
  const auto continues = [s](int i) { return (s[i] & 0xc0) == 0x80; };
  const unsigned lead = *s;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return left >= 2 && continues(1) ? 2 : 0;
  if (lead < 0xf0) {
    if (left < 3 || !continues(1) || !continues(2)) return 0;
    if (lead == 0xe0 && s[1] < 0xa0) return 0;  // overlong
    if (lead == 0xed && s[1] > 0x9f) return 0;  // surrogate
    return 3;
  }
  if (left < 4 || !continues(1) || !continues(2) || !continues(3)) return 0;
  if (lead == 0xf0 && s[1] < 0x90) return 0;  // overlong
  if (lead == 0xf4 && s[1] > 0x8f) return 0;  // above U+10FFFF
  return 4;
}

inline bool is_utf8(std::string_view text) {
  const auto* s = reinterpret_cast<const unsigned char*>(text.data());
  for (const unsigned char* const end = s + text.size(); s != end;) {
    const unsigned length = *s < 0x80 ? 1 : utf8_sequence(s, end);
    if (length == 0) return false;
    s += length;
  }
  return true;
}

}  // namespace dft::encode
