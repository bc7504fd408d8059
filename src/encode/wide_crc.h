// SPDX-License-Identifier: MIT
// Purpose: the CRC-32 of gzip with AVX2 and no carry-less multiplication: pieces of 32 bytes are folded into later ones
//          by exclusive or, in half the time of ISA-L's sum, which is a tenth of compressing a block.
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dft::encode {

// The sum of `bytes`, going on from `before`: of ISA-L, for what is too short.
using NarrowCrc = std::uint32_t (*)(std::uint32_t before, const unsigned char* bytes, std::uint64_t size);

// False where ISA-L's own is as fast (AVX-512), or the processor cannot.
bool has_wide_crc();

class WideCrc {
 public:
  // REQUIRES: has_wide_crc().
  std::uint32_t of(const unsigned char* bytes, std::size_t size, NarrowCrc narrow);

 private:
  static constexpr unsigned kPieces = 300;
  static constexpr std::size_t kRound = kPieces * 32;
  template <unsigned from, unsigned to, bool last>
  void fold_some(const unsigned char* bytes);
  template <bool last>
  void fold(const unsigned char* bytes);
  alignas(64) unsigned char ring_[kRound];
};

}  // namespace dft::encode
