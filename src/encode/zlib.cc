// SPDX-License-Identifier: MIT
#include <zlib.h>

#include "base/raw_io.h"
#include "encode/block_compressor.h"
#include "encode/gzip_member.h"

namespace dft::encode {

struct BlockCompressor::Impl {
  z_stream stream;
};

namespace {
constexpr int kRawDeflate = -15;  // windowBits without zlib's own frame
constexpr int kMemoryLevel = 9;
}  // namespace

BlockCompressor::BlockCompressor() : impl_(static_cast<Impl*>(base::raw::map(sizeof(Impl)))) {
  if (impl_ == nullptr) return;
  if (deflateInit2(&impl_->stream, 1, Z_DEFLATED, kRawDeflate, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) {
    base::raw::unmap(impl_, sizeof(Impl));
    impl_ = nullptr;
  }
}

BlockCompressor::~BlockCompressor() {
  if (impl_ == nullptr) return;
  deflateEnd(&impl_->stream);
  base::raw::unmap(impl_, sizeof(Impl));
}

std::string_view BlockCompressor::name() { return "zlib"; }

bool BlockCompressor::compress(std::string_view block, std::uint32_t lines, base::Buffer& out) {
  if (impl_ == nullptr) return false;
  unsigned char* const deflated = begin_member(block, out);
  if (deflated == nullptr) return false;
  auto* const input = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(block.data()));
  z_stream& stream = impl_->stream;
  if (deflateReset(&stream) != Z_OK) return false;
  stream.next_in = input;
  stream.avail_in = static_cast<uInt>(block.size());
  stream.next_out = deflated;
  const std::size_t room = member_bound(block.size()) - kMemberHeaderSize - kMemberTrailerSize;
  stream.avail_out = static_cast<uInt>(room < kMaxMember ? room : kMaxMember);
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) return false;
  const auto crc = crc32_z(0, input, block.size());
  return end_member(block, lines, stream.total_out, static_cast<std::uint32_t>(crc), out);
}

}  // namespace dft::encode
