// SPDX-License-Identifier: MIT
#include <libdeflate.h>

#include <cstddef>

#include "base/raw_io.h"
#include "encode/block_compressor.h"
#include "encode/gzip_member.h"

namespace dft::encode {

struct BlockCompressor::Impl {
  libdeflate_compressor* compressor;
};

namespace {

// Memory of our own: the application's allocator may count what is never freed, or be what crashed.
constexpr std::size_t kHead = 64;

void* allocate(std::size_t size) {
  auto* const block = static_cast<char*>(base::raw::map(kHead + size));
  if (block == nullptr) return nullptr;
  *reinterpret_cast<std::size_t*>(block) = kHead + size;
  return block + kHead;
}

void release(void* memory) {
  if (memory == nullptr) return;
  char* const block = static_cast<char*>(memory) - kHead;
  base::raw::unmap(block, *reinterpret_cast<std::size_t*>(block));
}

}  // namespace

BlockCompressor::BlockCompressor() : impl_(static_cast<Impl*>(base::raw::map(sizeof(Impl)))) {
  if (impl_ == nullptr) return;
  libdeflate_set_memory_allocator(allocate, release);
  impl_->compressor = libdeflate_alloc_compressor(1);
  if (impl_->compressor != nullptr) return;
  base::raw::unmap(impl_, sizeof(Impl));
  impl_ = nullptr;
}

BlockCompressor::~BlockCompressor() {
  if (impl_ == nullptr) return;
  libdeflate_free_compressor(impl_->compressor);
  base::raw::unmap(impl_, sizeof(Impl));
}

std::string_view BlockCompressor::name() { return "libdeflate"; }

bool BlockCompressor::compress(std::string_view block, std::uint32_t lines, base::Buffer& out) {
  if (impl_ == nullptr) return false;
  unsigned char* const deflated = begin_member(block, out);
  if (deflated == nullptr) return false;
  const std::size_t room = member_bound(block.size()) - kMemberHeaderSize - kMemberTrailerSize;
  const std::size_t size = libdeflate_deflate_compress(impl_->compressor, block.data(), block.size(), deflated, room);
  if (size == 0) return false;
  return end_member(block, lines, size, libdeflate_crc32(0, block.data(), block.size()), out);
}

}  // namespace dft::encode
