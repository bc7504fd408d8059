// SPDX-License-Identifier: MIT
// Purpose: the two hashes that the trace format prescribes.
// See: docs/format.md (string hashes, entities). MD5 is RFC 1321; it identifies strings here and protects nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dft::base {

struct Md5 {
  std::uint8_t bytes[16];
};
Md5 md5(std::string_view text);

// The 16 hex digits by which the trace names a file, host or string: MD5 bytes at even positions, lower-case, no NUL.
// Check vector: "corona211" -> 2a702c695247d487.
struct StringHash {
  char digits[16];
  std::string_view view() const { return {digits, sizeof digits}; }
};
StringHash string_hash(std::string_view text);

// Entity id: FNV-1a-64 with the format's own offset basis over the sanitised type, byte 0x1f, and the raw key; never 0.
// Check vector: ("protein_structure", "MGYP0001") -> 8f0de68c04eea0bf.
std::uint64_t entity_id(std::string_view sanitised_type, std::string_view key);

// Fast non-cryptographic hash for in-memory tables only; its values never reach a trace.
inline std::uint64_t table_hash(std::string_view text) {
  std::uint64_t h = 0x9e3779b97f4a7c15ull ^ text.size();
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t w;
    __builtin_memcpy(&w, text.data() + i, 8);
    h = (h ^ w) * 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
  std::uint64_t tail = 0;
  if (i < text.size()) __builtin_memcpy(&tail, text.data() + i, text.size() - i);
  h = (h ^ tail) * 0xc4ceb9fe1a85ec53ull;
  h ^= h >> 32;
  h *= 0x9e3779b97f4a7c15ull;
  return h ^ (h >> 29);
}

}  // namespace dft::base
