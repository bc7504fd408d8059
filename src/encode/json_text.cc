// SPDX-License-Identifier: MIT
#include "encode/json_text.h"

#include <charconv>
#include <cmath>

#include "encode/utf8.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the word-wise writers assume little endian");

namespace dft::encode::text {
namespace {

constexpr DigitQuads make_digit_quads() {
  DigitQuads quads{};
  for (unsigned i = 0; i < 10000; ++i) quads.of[i] = kDigitPairs.of[i / 100] | kDigitPairs.of[i % 100] << 16;
  return quads;
}

constexpr char kHex[] = "0123456789abcdef";

char* put_control(char* p, unsigned char byte) {
  char letter = 0;
  switch (byte) {
    case '"':
    case '\\': letter = static_cast<char>(byte); break;
    case '\n': letter = 'n'; break;
    case '\t': letter = 't'; break;
    case '\r': letter = 'r'; break;
    case '\b': letter = 'b'; break;
    case '\f': letter = 'f'; break;
    default: break;
  }
  *p++ = '\\';
  if (letter != 0) {
    *p++ = letter;
    return p;
  }
  p = put_literal(p, "u00");
  *p++ = kHex[byte >> 4];
  *p++ = kHex[byte & 15];
  return p;
}

// The fraction below 1 in units of 10^-8, not 0, without the zeros at its end.
char* put_fraction(char* p, std::uint32_t fraction) {
  *p++ = '.';
  const std::uint32_t high = fraction / 10000;
  const std::uint32_t low = fraction - high * 10000;
  if (low == 0) {
    const std::uint32_t four = four_digits(high);
    std::memcpy(p, &four, 4);
    return p + 4 - static_cast<unsigned>(__builtin_clz(four ^ static_cast<std::uint32_t>(kOnes * '0'))) / 8;
  }
  const std::uint64_t ascii = four_digits(high) | std::uint64_t{four_digits(low)} << 32;
  std::memcpy(p, &ascii, 8);
  return p + 8 -
         static_cast<unsigned>(__builtin_clzll(ascii ^ kOnes * '0')) / 8;  // the last digits lie highest in the word
}

// A magnitude that is a decimal of at most 15 digits, 8 of them behind the point: such a decimal is the only one of its
// length that reads as this double, so it is the shortest. Null for all others.
char* put_short_decimal(char* p, double magnitude) {
  constexpr double kScale = 1e8;
  if (magnitude >= 1e-4 && magnitude < 1e7) {
    const auto scaled = static_cast<std::int64_t>(magnitude * kScale + 0.5);
    if (static_cast<double>(scaled) / kScale != magnitude) return nullptr;
    const auto whole = static_cast<std::uint32_t>(static_cast<std::uint64_t>(scaled) / 100'000'000);
    const std::uint32_t fraction = static_cast<std::uint32_t>(scaled) - whole * 100'000'000;  // modulo 2^32
    p = whole < 10000 ? put_below_1e4(p, whole) : put_below_1e8(p, whole);
    return fraction == 0 ? p : put_fraction(p, fraction);
  }
  if (!(magnitude < 0x1p53)) return nullptr;
  const auto whole = static_cast<std::int64_t>(magnitude);
  return static_cast<double>(whole) == magnitude ? put_uint(p, static_cast<std::uint64_t>(whole)) : nullptr;
}

bool is_plain(unsigned char byte) { return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\'; }

}  // namespace

constexpr DigitQuads kDigitQuads = make_digit_quads();

Escaped put_escaped(char* p, const char* from, std::size_t size) {
  bool valid = true;
  const auto* s = reinterpret_cast<const unsigned char*>(from);
  const unsigned char* const end = s + size;
  while (s != end) {
    std::uint64_t word;
    if (end - s >= 8) {
      std::memcpy(&word, s, 8);
      if (!needs_care(word)) {
        std::memcpy(p, &word, 8);
        p += 8, s += 8;
        continue;
      }
    }
    // Up to the end of this word, byte by byte; a multi-byte character may reach into the next.
    for (const unsigned char* const stop = end - s >= 8 ? s + 8 : end; s < stop;) {
      if (is_plain(*s)) {
        *p++ = static_cast<char>(*s++);
      } else if (*s < 0x80) {
        p = put_control(p, *s++);
      } else if (const unsigned length = utf8_sequence(s, end)) {
        std::memcpy(p, s, length);
        p += length, s += length;
      } else {
        p = put_literal(p, "\xef\xbf\xbd");
        valid = false;
        ++s;
      }
    }
  }
  return {p, valid};
}

char* put_double(char* p, double v) {
  std::uint64_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  *p = '-';
  if (char* const end = put_short_decimal(p + (bits >> 63), std::fabs(v))) return end;
  if (!std::isfinite(v)) return put_literal(p, "null");
  return std::to_chars(p, p + kMaxNumber, v).ptr;
}

char* put_hex16(char* p, std::uint64_t v) {
  for (unsigned i = 0; i < 16; ++i) p[i] = kHex[(v >> (60 - 4 * i)) & 15];
  return p + 16;
}

std::size_t escaped_bound(const char* from, std::size_t size) {
  std::size_t special = 0;
  for (std::size_t i = 0; i < size; ++i) special += !is_plain(static_cast<unsigned char>(from[i]));
  return size + special * (kMaxEscapeFactor - 1);
}

}  // namespace dft::encode::text
