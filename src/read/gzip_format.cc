// SPDX-License-Identifier: MIT
#include "read/gzip_format.h"

#include <algorithm>
#include <cstring>

#include "model/trace_format.h"

namespace dft::read {
namespace {

std::uint32_t little32(const unsigned char* at) {
  return at[0] | at[1] << 8 | at[2] << 16 | static_cast<std::uint32_t>(at[3]) << 24;
}

void read_extra(const unsigned char* at, std::size_t size, MemberHeader& out) {
  while (size >= 4) {
    const std::size_t length = at[2] | at[3] << 8;
    if (length > size - 4) return;
    if (at[0] == model::kMemberExtraId[0] && at[1] == model::kMemberExtraId[1] && length == model::kMemberExtraLen) {
      out.ours = true;
      out.member_size = little32(at + 4);
      out.text_size = little32(at + 8);
      out.lines = little32(at + 12);
    }
    at += 4 + length;
    size -= 4 + length;
  }
}

}  // namespace

HeaderStatus read_member_header(const unsigned char* data, std::size_t size, MemberHeader& out) {
  constexpr unsigned char kHeaderCrc = 2, kExtra = 4, kName = 8, kComment = 16, kReserved = 0xe0;
  static constexpr unsigned char kStart[] = {0x1f, 0x8b, 8};
  for (std::size_t i = 0; i < std::min(size, sizeof kStart); ++i) {
    if (data[i] != kStart[i]) return HeaderStatus::kBroken;
  }
  if (size < 10) return HeaderStatus::kShort;
  const unsigned char flags = data[3];
  if ((flags & kReserved) != 0) return HeaderStatus::kBroken;
  out = MemberHeader{};
  std::size_t at = 10;
  if ((flags & kExtra) != 0) {
    if (size < at + 2) return HeaderStatus::kShort;
    const std::size_t length = data[at] | data[at + 1] << 8;
    at += 2;
    if (size < at + length) return HeaderStatus::kShort;
    read_extra(data + at, length, out);
    at += length;
  }
  for (const unsigned char flag : {kName, kComment}) {
    if ((flags & flag) == 0) continue;
    const void* nul = at < size ? std::memchr(data + at, 0, size - at) : nullptr;
    if (nul == nullptr) return HeaderStatus::kShort;
    at = static_cast<std::size_t>(static_cast<const unsigned char*>(nul) - data) + 1;
  }
  if ((flags & kHeaderCrc) != 0) at += 2;
  if (size < at) return HeaderStatus::kShort;
  out.size = at;
  return HeaderStatus::kGood;
}

MemberTrailer read_member_trailer(const unsigned char* data) { return {little32(data), little32(data + 4)}; }

}  // namespace dft::read
