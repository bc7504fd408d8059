// SPDX-License-Identifier: MIT
#include <isal/crc.h>
#include <isal/igzip_lib.h>

#include <algorithm>
#include <cstddef>

#include "read/inflater.h"

namespace dft::read {

struct Inflater::Impl {
  inflate_state state;
};

Inflater::Inflater() : impl_(std::make_unique<Impl>()) { reset(); }
Inflater::~Inflater() = default;

void Inflater::reset() {
  isal_inflate_init(&impl_->state);
  impl_->state.crc_flag = ISAL_DEFLATE;
}

Inflater::Status Inflater::run(const unsigned char*& in, std::size_t& in_size, char*& out, std::size_t& out_size) {
  inflate_state& state = impl_->state;
  constexpr std::size_t kMost = std::size_t{1} << 30;  // ISA-L counts in 32 bits
  const auto in_now = static_cast<std::uint32_t>(std::min(in_size, kMost));
  const auto out_now = static_cast<std::uint32_t>(std::min(out_size, kMost));
  state.next_in = const_cast<unsigned char*>(in);
  state.avail_in = in_now;
  state.next_out = reinterpret_cast<unsigned char*>(out);
  state.avail_out = out_now;
  const int result = isal_inflate(&state);
  const std::size_t given = out_now - state.avail_out;
  // At the end ISA-L gives back the bytes that its bit buffer holds, also those of earlier calls.
  const auto taken = static_cast<std::ptrdiff_t>(in_now) - static_cast<std::ptrdiff_t>(state.avail_in);
  const bool ended = result == ISAL_DECOMP_OK && state.block_state == ISAL_BLOCK_FINISH;
  in += taken;
  in_size = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(in_size) - taken);
  out += given;
  out_size -= given;
  if (result != ISAL_DECOMP_OK) return Status::kBroken;
  return ended ? Status::kEnd : Status::kMore;
}

const char* Inflater::name() { return "isal"; }

std::uint32_t gzip_crc(std::uint32_t crc, const char* data, std::size_t size) {
  return crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(data), size);
}

}  // namespace dft::read
