// SPDX-License-Identifier: MIT
#include <isal/crc.h>
#include <isal/igzip_lib.h>

#include "base/raw_io.h"
#include "encode/block_compressor.h"
#include "encode/gzip_member.h"
#include "encode/wide_crc.h"

namespace dft::encode {

// Lies in its own mapping: 100 KiB of state and the level's work area, no destructor needed.
struct BlockCompressor::Impl {
  std::uint32_t crc_of(const unsigned char* bytes, std::size_t size) {
    return wide ? crc.of(bytes, size, crc32_gzip_refl) : crc32_gzip_refl(0, bytes, size);
  }
  isal_zstream stream;
  alignas(64) unsigned char level_buffer[ISAL_DEF_LVL1_DEFAULT];
  WideCrc crc;
  bool wide;  // has_wide_crc()
};

BlockCompressor::BlockCompressor() : impl_(static_cast<Impl*>(base::raw::map(sizeof(Impl)))) {
  if (impl_ != nullptr) impl_->wide = has_wide_crc();
}

BlockCompressor::~BlockCompressor() {
  if (impl_ != nullptr) base::raw::unmap(impl_, sizeof(Impl));
}

std::string_view BlockCompressor::name() { return "isal"; }

bool BlockCompressor::compress(std::string_view block, std::uint32_t lines, base::Buffer& out) {
  if (impl_ == nullptr) return false;
  unsigned char* const deflated = begin_member(block, out);
  if (deflated == nullptr) return false;
  auto* const input = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(block.data()));
  isal_zstream& stream = impl_->stream;
  isal_deflate_stateless_init(&stream);
  stream.level = 1;
  stream.level_buf = impl_->level_buffer;
  stream.level_buf_size = sizeof impl_->level_buffer;
  stream.gzip_flag = IGZIP_DEFLATE;
  stream.end_of_stream = 1;
  stream.flush = NO_FLUSH;
  stream.next_in = input;
  stream.avail_in = static_cast<std::uint32_t>(block.size());
  stream.next_out = deflated;
  const std::size_t room = member_bound(block.size()) - kMemberHeaderSize - kMemberTrailerSize;
  stream.avail_out = static_cast<std::uint32_t>(room < kMaxMember ? room : kMaxMember);
  if (isal_deflate_stateless(&stream) != COMP_OK || stream.avail_in != 0) return false;
  return end_member(block, lines, stream.total_out, impl_->crc_of(input, block.size()), out);
}

}  // namespace dft::encode
