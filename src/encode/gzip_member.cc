// SPDX-License-Identifier: MIT
#include "encode/gzip_member.h"

#include "model/trace_format.h"

namespace dft::encode {
namespace {

constexpr unsigned char kDeflate = 8;
constexpr unsigned char kFlagExtra = 4;
constexpr unsigned char kFastest = 4;  // XFL
constexpr unsigned char kUnix = 3;

unsigned char* put_le32(unsigned char* p, std::uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) *p++ = static_cast<unsigned char>(value >> (8 * i));
  return p;
}

unsigned char* put_le16(unsigned char* p, unsigned value) {
  *p++ = static_cast<unsigned char>(value);
  *p++ = static_cast<unsigned char>(value >> 8);
  return p;
}

}  // namespace

unsigned char* begin_member(std::string_view block, base::Buffer& out) {
  if (block.size() > kMaxMember || !out.reserve(member_bound(block.size()))) return nullptr;
  return reinterpret_cast<unsigned char*>(out.end()) + kMemberHeaderSize;
}

bool end_member(std::string_view block, std::uint32_t lines, std::size_t deflated, std::uint32_t crc,
                base::Buffer& out) {
  const std::size_t size = kMemberHeaderSize + deflated + kMemberTrailerSize;
  if (size > kMaxMember) return false;
  auto* p = reinterpret_cast<unsigned char*>(out.end());
  *p++ = 0x1f;
  *p++ = 0x8b;
  *p++ = kDeflate;
  *p++ = kFlagExtra;
  p = put_le32(p, 0);  // no time: the same trace gives the same bytes
  *p++ = kFastest;
  *p++ = kUnix;
  p = put_le16(p, 4 + model::kMemberExtraLen);
  *p++ = model::kMemberExtraId[0];
  *p++ = model::kMemberExtraId[1];
  p = put_le16(p, model::kMemberExtraLen);
  p = put_le32(p, static_cast<std::uint32_t>(size));
  p = put_le32(p, static_cast<std::uint32_t>(block.size()));
  p = put_le32(p, lines);
  p = put_le32(p + deflated, crc);
  put_le32(p, static_cast<std::uint32_t>(block.size()));
  out.advance(size);
  return true;
}

}  // namespace dft::encode
