// SPDX-License-Identifier: MIT
// Purpose: copies of 64 bytes, in the widest pieces that the processor has: most of a GPU line is copied, and that is a
//          third of its cost. The function that uses WideCopy is compiled for AVX2 (DFT_FOR_WIDE_COPY) and chosen at
//          run time.
// Threads: plain functions.
#pragma once

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dft::encode::text {

struct PlainCopy {
  static void put_64(char* p, const char* from) { std::memcpy(p, from, 64); }
};

#if defined(__x86_64__)
#define DFT_FOR_WIDE_COPY [[gnu::target("avx2")]]
struct WideCopy {
  [[gnu::target("avx2")]] static void put_64(char* p, const char* from) {
    const auto* source = reinterpret_cast<const __m256i*>(from);
    const __m256i low = _mm256_loadu_si256(source);
    const __m256i high = _mm256_loadu_si256(source + 1);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p) + 1, high);
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
