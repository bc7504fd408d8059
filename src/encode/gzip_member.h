// SPDX-License-Identifier: MIT
// Purpose: the frame of a gzip member (RFC 1952) around a deflate stream: a header without name and time, OS 3, and the
//          FEXTRA subfield of model/trace_format.h by which a reader hops from member to member.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/buffer.h"

namespace dft::encode {

inline constexpr std::size_t kMemberHeaderSize = 28;  // 10 fixed, 2 XLEN, 4 subfield header, 12 its content
inline constexpr std::size_t kMemberTrailerSize = 8;
inline constexpr std::uint64_t kMaxMember = 0xffffffffull;  // sizes are 32-bit fields

// Room for a member of a block: frame and a deflate stream that may be a little longer than its input.
constexpr std::size_t member_bound(std::size_t block_size) {
  return kMemberHeaderSize + kMemberTrailerSize + block_size + block_size / 8 + 4096;
}

// Reserves the room and returns where the deflate stream goes; null when the block is too large or memory is refused.
unsigned char* begin_member(std::string_view block, base::Buffer& out);

// Completes the member around a stream of `deflated` bytes and appends it. False, and nothing appended, when the member
// became too large for its fields.
bool end_member(std::string_view block, std::uint32_t lines, std::size_t deflated, std::uint32_t crc,
                base::Buffer& out);

}  // namespace dft::encode
