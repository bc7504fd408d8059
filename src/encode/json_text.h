// SPDX-License-Identifier: MIT
// Purpose: JSON text written through a bare pointer, for callers that reserved the room (the drain's hot loop).
// Threads: pure functions.
// Invariants: each put_* needs the stated room behind `p`, may scribble over kSlack bytes more, and returns the new
// end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "encode/wide_copy.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace dft::encode::text {

// Bytes behind the result that a put_* may overwrite: they store whole words.
inline constexpr std::size_t kSlack = 32;
inline constexpr std::size_t kMaxNumber = 32;       // no number is longer
inline constexpr std::size_t kMaxEscapeFactor = 6;  // \u0000 for one byte

template <std::size_t N>
char* put_literal(char* p, const char (&literal)[N]) {
  std::memcpy(p, literal, N - 1);
  return p + N - 1;
}

// The same for a short literal, in one store: it may overwrite a byte behind.
inline char* put_seven(char* p, const char (&literal)[8]) {
  std::memcpy(p, literal, 8);
  return p + 7;
}

inline constexpr std::uint64_t kOnes = 0x0101010101010101ull;

// True when a byte of `word` cannot stand in a JSON string as it is: control, quote, backslash, or not ASCII.
inline bool needs_care(std::uint64_t word) {
  const std::uint64_t quote = (word ^ kOnes * '"') - kOnes;
  const std::uint64_t backslash = (word ^ kOnes * '\\') - kOnes;
  const std::uint64_t control = word - kOnes * 0x20;
  return ((quote | backslash | control | word) & kOnes * 0x80) != 0;
}

struct Escaped {
  char* end;
  bool valid;  // false: an invalid byte was replaced by U+FFFD
};

// Escapes any bytes. Room: kMaxEscapeFactor * size.
Escaped put_escaped(char* p, const char* from, std::size_t size);

#if defined(__SSE2__)
// Bit i: byte i cannot stand in a JSON string as it is. The highest bit of a byte tells.
inline unsigned cares_of(__m128i bytes) {
  const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  const __m128i other = _mm_or_si128(bytes, _mm_sub_epi8(bytes, _mm_set1_epi8(' ')));
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), other)));
}
#endif

// The same for bytes that are padded to a multiple of 8 (args of a record), so that no tail needs bytewise care.
inline Escaped put_escaped_padded(char* p, const char* from, std::size_t size) {
  std::size_t i = 0;
#if defined(__SSE2__)
  while (size - i > 8) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    unsigned cares = cares_of(bytes);
    const bool is_last = size - i <= 16;
    if (is_last) cares &= 0xffffu >> (16 - (size - i));
    if (__builtin_expect(cares != 0, 0)) return put_escaped(p + i, from + i, size - i);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + i), bytes);
    if (is_last) return {p + size, true};
    i += 16;
  }
#endif
  std::uint64_t word;
  for (; i + 8 <= size; i += 8) {
    std::memcpy(&word, from + i, 8);
    if (__builtin_expect(needs_care(word), 0)) return put_escaped(p + i, from + i, size - i);
    std::memcpy(p + i, &word, 8);
  }
  if (i < size) {
    std::memcpy(&word, from + i, 8);
    const unsigned used = static_cast<unsigned>(size - i) * 8;
    const std::uint64_t keep = (std::uint64_t{1} << used) - 1;
    if (__builtin_expect(needs_care((word & keep) | (kOnes * 'x' & ~keep)), 0)) {
      return put_escaped(p + i, from + i, size - i);
    }
    std::memcpy(p + i, &word, 8);
  }
  return {p + size, true};
}

// Two digits for each number below 100, the tens first in memory.
struct DigitPairs {
  std::uint16_t of[100];
};
constexpr DigitPairs make_digit_pairs() {
  DigitPairs pairs{};
  for (unsigned i = 0; i < 100; ++i) {
    pairs.of[i] = static_cast<std::uint16_t>(('0' + i / 10) | ('0' + i % 10) << 8);
  }
  return pairs;
}
inline constexpr DigitPairs kDigitPairs = make_digit_pairs();

// Four decimal digits of v < 10^4 as ASCII, most significant first in memory: of the numbers of a line most are
// counters and times, which go through a table in its order.
struct DigitQuads {
  std::uint32_t of[10000];
};
extern const DigitQuads kDigitQuads;
inline std::uint32_t four_digits(std::uint32_t v) { return kDigitQuads.of[v]; }

// Eight digits of v < 10^8, alike.
inline std::uint64_t eight_digits(std::uint32_t v) {
  const std::uint32_t high = v / 10000;
  return four_digits(high) | std::uint64_t{four_digits(v - 10000 * high)} << 32;
}

inline char* put_four(char* p, std::uint32_t v) {
  const std::uint32_t ascii = four_digits(v);
  std::memcpy(p, &ascii, 4);
  return p + 4;
}

inline char* put_eight(char* p, std::uint32_t v) {
  const std::uint64_t ascii = eight_digits(v);
  std::memcpy(p, &ascii, 8);
  return p + 8;
}

// Without leading zeros, and without a branch for each digit.
inline char* put_below_1e4(char* p, std::uint32_t v) {
  const std::uint32_t ascii = four_digits(v);
  const auto not_zero = (ascii ^ static_cast<std::uint32_t>(kOnes * '0')) | 1u << 24;
  const unsigned leading = static_cast<unsigned>(__builtin_ctz(not_zero)) & ~7u;
  const std::uint32_t digits = ascii >> leading;
  std::memcpy(p, &digits, 4);
  return p + 4 - leading / 8;
}

inline char* put_below_1e8(char* p, std::uint32_t v) {
  const std::uint64_t ascii = eight_digits(v);
  const std::uint64_t not_zero = (ascii ^ kOnes * '0') | std::uint64_t{1} << 56;
  const unsigned leading = static_cast<unsigned>(__builtin_ctzll(not_zero)) & ~7u;
  const std::uint64_t digits = ascii >> leading;
  std::memcpy(p, &digits, 8);
  return p + 8 - leading / 8;
}

inline char* put_uint(char* p, std::uint64_t v) {
  constexpr std::uint64_t kE8 = 100'000'000;
  if (v < 10000) return put_below_1e4(p, static_cast<std::uint32_t>(v));
  if (v < kE8) return put_below_1e8(p, static_cast<std::uint32_t>(v));
  const std::uint64_t high = v / kE8;
  const auto low = static_cast<std::uint32_t>(v % kE8);
  if (high < kE8) return put_eight(put_below_1e8(p, static_cast<std::uint32_t>(high)), low);
  p = put_below_1e8(p, static_cast<std::uint32_t>(high / kE8));
  return put_eight(put_eight(p, static_cast<std::uint32_t>(high % kE8)), low);
}

inline char* put_int(char* p, std::int64_t v) {
  auto magnitude = static_cast<std::uint64_t>(v);
  if (v < 0) {
    *p++ = '-';
    magnitude = 0 - magnitude;
  }
  return put_uint(p, magnitude);
}

// Shortest text that reads back equal; NaN and infinities: null.
char* put_double(char* p, double v);

char* put_hex16(char* p, std::uint64_t v);  // 16 lower-case digits

// Upper bound of the escaped size, exact enough for long texts: 1 a plain byte, 6 a byte that needs care.
std::size_t escaped_bound(const char* from, std::size_t size);

}  // namespace dft::encode::text
