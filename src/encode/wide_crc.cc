// SPDX-License-Identifier: MIT
#include "encode/wide_crc.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#define DFT_FOR_WIDE_CRC [[gnu::target("avx2,vpclmulqdq")]]
#endif

namespace dft::encode {

#if defined(__x86_64__)

namespace {

constexpr std::size_t kStep = 128;  // bytes that are folded at a time
constexpr unsigned kSums = kStep / sizeof(__m256i);

// x^n modulo the polynomial, the highest power in the lowest bit, as a factor: one place to the left.
constexpr long long power(unsigned n) {
  std::uint32_t value = 0x80000000u;
  for (unsigned i = 0; i < n; ++i) value = value >> 1 ^ ((value & 1u) != 0 ? 0xedb88320u : 0u);
  return static_cast<long long>(value) << 1;
}
constexpr long long kLow = power(8 * kStep + 32);
constexpr long long kHigh = power(8 * kStep - 32);
static_assert(power(4 * 128 + 32) == 0x154442bd4 && power(4 * 128 - 32) == 0x1c6e41596);  // those of Intel's paper

DFT_FOR_WIDE_CRC inline __m256i load(const unsigned char* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

}  // namespace

bool has_wide_crc() {
  __builtin_cpu_init();
  const bool has_it = __builtin_cpu_supports("vpclmulqdq") != 0 && __builtin_cpu_supports("avx2") != 0;
  return has_it && __builtin_cpu_supports("avx512f") == 0;
}

DFT_FOR_WIDE_CRC std::uint32_t wide_crc(const unsigned char* bytes, std::size_t size, NarrowCrc narrow) {
  if (size < 2 * kStep) return narrow(0, bytes, size);
  const __m256i factors = _mm256_set_epi64x(kHigh, kLow, kHigh, kLow);
  __m256i sums[kSums];
  for (unsigned i = 0; i < kSums; ++i) sums[i] = load(bytes + i * sizeof(__m256i));
  sums[0] = _mm256_xor_si256(sums[0], _mm256_set_epi64x(0, 0, 0, 0xffffffff));
  const unsigned char* const end = bytes + size;
  const unsigned char* at = bytes + kStep;
  for (; static_cast<std::size_t>(end - at) >= kStep; at += kStep) {
    for (unsigned i = 0; i < kSums; ++i) {
      const __m256i low = _mm256_clmulepi64_epi128(sums[i], factors, 0x00);
      const __m256i high = _mm256_clmulepi64_epi128(sums[i], factors, 0x11);
      sums[i] = _mm256_xor_si256(_mm256_xor_si256(low, high), load(at + i * sizeof(__m256i)));
    }
  }
  // Bytes that have the same sum as all that was folded.
  unsigned char folded[kStep];
  std::memcpy(folded, sums, sizeof folded);
  return narrow(narrow(~std::uint32_t{0}, folded, sizeof folded), at, static_cast<std::size_t>(end - at));
}

#else

bool has_wide_crc() { return false; }
std::uint32_t wide_crc(const unsigned char* bytes, std::size_t size, NarrowCrc narrow) {
  return narrow(0, bytes, size);
}

#endif

}  // namespace dft::encode
