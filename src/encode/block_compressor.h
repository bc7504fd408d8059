// SPDX-License-Identifier: MIT
// Purpose: one block of lines -> one complete gzip member (RFC 1952) that carries its own size in the FEXTRA subfield
//          of model/trace_format.h. Compressor chosen at build: ISA-L level 1, else libdeflate 1, else zlib 1.
// Threads: one owner. No malloc after construction.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/buffer.h"

namespace dft::encode {

class BlockCompressor {
 public:
  BlockCompressor();
  ~BlockCompressor();
  BlockCompressor(const BlockCompressor&) = delete;
  BlockCompressor& operator=(const BlockCompressor&) = delete;
  static std::string_view name();  // "isal", "libdeflate" or "zlib"
  // Appends the member to `out`. False when memory or the library refuses, or when a size exceeds 32 bits; `out` is
  // then unchanged.
  bool compress(std::string_view block, std::uint32_t lines, base::Buffer& out);

 private:
  struct Impl;
  Impl* impl_;  // null when construction was refused memory
};

}  // namespace dft::encode
