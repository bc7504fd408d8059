// SPDX-License-Identifier: MIT
// Purpose: copies of 64 bytes, in the widest pieces that the processor has: most of a GPU line is copied, and that is a
//          third of its cost. The function that uses WideCopy is compiled for AVX2 (DFT_FOR_WIDE_COPY) and chosen at
//          run time.
// Threads: plain functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dft::encode::text {

inline constexpr std::size_t kReadAhead = 96;

// Both copy `n` bytes in pieces of 64, which most texts fit, and return where the next text goes. REQUIRES: n > 0,
// `pieces` of it, kReadAhead readable bytes behind the source, and room for as many more bytes.
constexpr std::size_t pieces_of(std::size_t n) { return (n + 62) / 64; }  // the first byte apart

struct PlainCopy {
  [[gnu::always_inline]] static char* put(char* p, const char* from, std::size_t n, std::size_t = 0) {
    char* const end = p + n;
    do {
      std::memcpy(p, from, 64);
      p += 64;
      from += 64;
      asm volatile("" ::: "memory");  // or compilers make a call of it, which costs more than the copy
    } while (p < end);
    return end;
  }
};

#if defined(__x86_64__)
#define DFT_FOR_WIDE_COPY [[gnu::target("avx2")]]
struct WideCopy {
  // All stores but the first, which covers 1 to 32 bytes that the others do not, are aligned: others take twice as
  // long. How many there are depends on `n` alone, so that the processor can tell from text to text.
  DFT_FOR_WIDE_COPY static char* put(char* p, const char* from, std::size_t n, std::size_t pieces) {
    const auto load = reinterpret_cast<const __m256i*>(from);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_loadu_si256(load));
    char* to = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(p) | 31) + 1);
    const char* source = from + (to - p);
    for (; pieces != 0; --pieces) {
      const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source));
      const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source) + 1);
      _mm256_store_si256(reinterpret_cast<__m256i*>(to), low);
      _mm256_store_si256(reinterpret_cast<__m256i*>(to) + 1, high);
      source += 64;
      to += 64;
      asm volatile("" ::: "memory");
    }
    return p + n;
  }
};
inline bool has_wide_copy() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0;
}
#else
#define DFT_FOR_WIDE_COPY
using WideCopy = PlainCopy;
inline bool has_wide_copy() { return false; }
#endif

}  // namespace dft::encode::text
