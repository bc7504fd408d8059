// SPDX-License-Identifier: MIT
// Purpose: the CRC-32 of gzip by carry-less multiplications of 256 bits. ISA-L has those of 128 and of 512 bits; on the
//          processors between the two its sum is a fifth of what a GPU line costs to compress.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dft::encode {

// Takes up the sum of what came before, as ISA-L's crc32_gzip_refl does.
using NarrowCrc = std::uint32_t (*)(std::uint32_t before, const unsigned char* bytes, std::uint64_t size);

// Whether the processor is one of those.
bool has_wide_crc();

// `narrow` sums up the last bytes. REQUIRES: has_wide_crc().
std::uint32_t wide_crc(const unsigned char* bytes, std::size_t size, NarrowCrc narrow);

}  // namespace dft::encode
