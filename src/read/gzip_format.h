// SPDX-License-Identifier: MIT
// Purpose: the frame of a gzip member (RFC 1952), as far as a reader needs it.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dft::read {

// Header of a gzip member (RFC 1952).
struct MemberHeader {
  std::size_t size = 0;  // of the header itself
  bool ours = false;     // carries the subfield of model/trace_format.h, with:
  std::uint32_t member_size = 0;
  std::uint32_t text_size = 0;
  std::uint32_t lines = 0;
};
enum class HeaderStatus { kGood, kShort, kBroken };
// kShort: more bytes are needed to tell.
HeaderStatus read_member_header(const unsigned char* data, std::size_t size, MemberHeader& out);

inline constexpr std::size_t kTrailerSize = 8;
struct MemberTrailer {
  std::uint32_t crc;
  std::uint32_t size;
};
MemberTrailer read_member_trailer(const unsigned char* data);

}  // namespace dft::read
