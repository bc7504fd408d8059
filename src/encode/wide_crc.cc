// SPDX-License-Identifier: MIT
// The CRC-32 polynomial divides x^300 + x^155 + x^117 + x^89 + 1, the only polynomial of five terms below degree 400
// that it does. With each sum of powers it divides that of their squares, so it holds for powers of x^256 as well: a
// piece of 32 bytes counts as much as four copies of it, 145, 183, 211 and 300 pieces later. What arrives at a piece is
// added to it before it is copied on itself; the last 300 are left, and their sum is that of everything.
#include "encode/wide_crc.h"

#include <cstring>
#include <initializer_list>

#if defined(__x86_64__)
#include <immintrin.h>
#define DFT_FOR_WIDE_CRC [[gnu::target("avx2")]]
#endif

namespace dft::encode {

#if defined(__x86_64__)

namespace {

constexpr unsigned kNear = 145;
constexpr unsigned kMiddle = 183;
constexpr unsigned kFar = 211;

// The powers of x modulo the CRC's polynomial, which the highest bit of a word begins.
constexpr std::uint32_t power(unsigned n) {
  std::uint32_t value = 1;
  for (unsigned i = 0; i < n; ++i) value = value << 1 ^ ((value >> 31) != 0 ? 0x04c11db7u : 0u);
  return value;
}
static_assert((power(300) ^ power(300 - kNear) ^ power(300 - kMiddle) ^ power(300 - kFar) ^ 1) == 0);

}  // namespace

bool has_wide_crc() {
  __builtin_cpu_init();
  const bool has_better = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0;
  return __builtin_cpu_supports("avx2") != 0 && !has_better;
}

// Pieces `from` to `to` of a round; the ring holds those of the round before, and of this one as far as it went. In the
// last round nothing is copied on, so only what was copied before it arrives.
template <unsigned from, unsigned to, bool last>
DFT_FOR_WIDE_CRC inline void WideCrc::fold_some(const unsigned char* bytes) {
  auto* const ring = reinterpret_cast<__m256i*>(ring_);
#pragma GCC unroll 4
  for (unsigned i = from; i < to; ++i) {
    const __m256i here = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes) + i);
    __m256i sum = _mm256_xor_si256(here, _mm256_load_si256(ring + i));
    for (const unsigned distance : {kNear, kMiddle, kFar}) {
      const bool is_of_this_round = from >= distance;
      if (is_of_this_round && last) continue;
      sum = _mm256_xor_si256(sum, _mm256_load_si256(ring + (is_of_this_round ? i : i + kPieces) - distance));
    }
    _mm256_store_si256(ring + i, sum);
  }
}

template <bool last>
DFT_FOR_WIDE_CRC void WideCrc::fold(const unsigned char* bytes) {
  fold_some<0, kNear, last>(bytes);
  fold_some<kNear, kMiddle, last>(bytes);
  fold_some<kMiddle, kFar, last>(bytes);
  fold_some<kFar, kPieces, last>(bytes);
}

std::uint32_t WideCrc::of(const unsigned char* bytes, std::size_t size, NarrowCrc narrow) {
  if (size < 2 * kRound) return narrow(0, bytes, size);
  std::memset(ring_, 0, sizeof ring_);
  std::memset(ring_, 0xff, sizeof(std::uint32_t));  // with which a sum begins
  const unsigned char* const end = bytes + size;
  for (; static_cast<std::size_t>(end - bytes) >= 2 * kRound; bytes += kRound) fold<false>(bytes);
  fold<true>(bytes);
  bytes += kRound;
  return narrow(narrow(~std::uint32_t{0}, ring_, sizeof ring_), bytes, static_cast<std::size_t>(end - bytes));
}

#else

bool has_wide_crc() { return false; }
std::uint32_t WideCrc::of(const unsigned char* bytes, std::size_t size, NarrowCrc narrow) {
  return narrow(0, bytes, size);
}

#endif

}  // namespace dft::encode
