// SPDX-License-Identifier: MIT
#include <zlib.h>

#include <algorithm>
#include <new>

#include "read/inflater.h"

namespace dft::read {

struct Inflater::Impl {
  z_stream stream{};
};

Inflater::Inflater() : impl_(std::make_unique<Impl>()) {
  if (inflateInit2(&impl_->stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
}
Inflater::~Inflater() { inflateEnd(&impl_->stream); }

void Inflater::reset() { inflateReset(&impl_->stream); }

Inflater::Status Inflater::run(const unsigned char*& in, std::size_t& in_size, char*& out, std::size_t& out_size) {
  z_stream& stream = impl_->stream;
  constexpr std::size_t kMost = std::size_t{1} << 30;
  stream.next_in = const_cast<unsigned char*>(in);
  stream.avail_in = static_cast<unsigned>(std::min(in_size, kMost));
  stream.next_out = reinterpret_cast<unsigned char*>(out);
  stream.avail_out = static_cast<unsigned>(std::min(out_size, kMost));
  const int result = inflate(&stream, Z_NO_FLUSH);
  const auto taken = static_cast<std::size_t>(stream.next_in - in);
  const auto given = static_cast<std::size_t>(reinterpret_cast<char*>(stream.next_out) - out);
  in += taken;
  in_size -= taken;
  out += given;
  out_size -= given;
  if (result == Z_STREAM_END) return Status::kEnd;
  return result == Z_OK || result == Z_BUF_ERROR ? Status::kMore : Status::kBroken;
}

const char* Inflater::name() { return "zlib"; }

std::uint32_t gzip_crc(std::uint32_t crc, const char* data, std::size_t size) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  while (size != 0) {
    const std::size_t now = std::min(size, kMost);
    crc = static_cast<std::uint32_t>(
        crc32(crc, reinterpret_cast<const unsigned char*>(data), static_cast<unsigned>(now)));
    data += now;
    size -= now;
  }
  return crc;
}

}  // namespace dft::read
