// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include <cstring>
#include <utility>

namespace dft::base {
namespace {

// RFC 1321: per-round rotation amounts, and floor(2^32 * |sin(i + 1)|).
constexpr std::uint8_t kRotate[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
constexpr std::uint32_t kSine[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

std::uint32_t rotate_left(std::uint32_t x, unsigned n) { return (x << n) | (x >> (32 - n)); }

std::uint32_t load_le32(const unsigned char* p) {
  return std::uint32_t{p[0]} | std::uint32_t{p[1]} << 8 | std::uint32_t{p[2]} << 16 | std::uint32_t{p[3]} << 24;
}

// One of the 64 steps. The four words swap their roles in each, so that nothing need be moved.
template <unsigned I>
void md5_step(std::uint32_t (&state)[4], const std::uint32_t (&words)[16]) {
  constexpr unsigned kA = (64 - I) % 4;
  const std::uint32_t b = state[(kA + 1) % 4], c = state[(kA + 2) % 4], d = state[(kA + 3) % 4];
  std::uint32_t mix;
  unsigned word;
  switch (I / 16) {
    case 0: mix = (b & c) | (~b & d), word = I; break;
    case 1: mix = (d & b) | (~d & c), word = 5 * I + 1; break;
    case 2: mix = b ^ c ^ d, word = 3 * I + 5; break;
    default: mix = c ^ (b | ~d), word = 7 * I; break;
  }
  state[kA] = b + rotate_left(state[kA] + mix + kSine[I] + words[word % 16], kRotate[I / 16 * 4 + I % 4]);
}

template <unsigned... I>
void md5_steps(std::uint32_t (&state)[4], const std::uint32_t (&words)[16], std::integer_sequence<unsigned, I...>) {
  (md5_step<I>(state, words), ...);
}

void md5_block(std::uint32_t state[4], const unsigned char* block) {
  std::uint32_t words[16];
  for (unsigned i = 0; i < 16; ++i) words[i] = load_le32(block + 4 * i);
  std::uint32_t mixed[4] = {state[0], state[1], state[2], state[3]};
  md5_steps(mixed, words, std::make_integer_sequence<unsigned, 64>());  // written out: a third of a loop's time
  for (unsigned i = 0; i < 4; ++i) state[i] += mixed[i];
}

}  // namespace

Md5 md5(std::string_view text) {
  std::uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t left = text.size();
  for (; left >= 64; bytes += 64, left -= 64) md5_block(state, bytes);

  // The tail: a 1 bit, zeros, and the length in bits as the last 8 bytes of one or two blocks.
  unsigned char tail[128] = {};
  if (left != 0) std::memcpy(tail, bytes, left);
  tail[left] = 0x80;
  const std::size_t tail_size = left < 56 ? 64 : 128;
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (unsigned i = 0; i < 8; ++i) tail[tail_size - 8 + i] = static_cast<unsigned char>(bits >> (8 * i));
  md5_block(state, tail);
  if (tail_size == 128) md5_block(state, tail + 64);

  Md5 out;
  for (unsigned i = 0; i < 16; ++i) out.bytes[i] = static_cast<std::uint8_t>(state[i / 4] >> (8 * (i % 4)));
  return out;
}

StringHash string_hash(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  const Md5 digest = md5(text);
  StringHash out;
  for (unsigned i = 0; i < 8; ++i) {
    out.digits[2 * i] = kHex[digest.bytes[2 * i] >> 4];
    out.digits[2 * i + 1] = kHex[digest.bytes[2 * i] & 15];
  }
  return out;
}

std::uint64_t entity_id(std::string_view sanitised_type, std::string_view key) {
  // The basis lacks the last digit of the standard one. The format has it so; ids must stay comparable.
  std::uint64_t h = 1469598103934665603ull;
  const auto feed = [&h](unsigned char byte) { h = (h ^ byte) * 1099511628211ull; };
  for (const char c : sanitised_type) feed(static_cast<unsigned char>(c));
  feed(0x1f);
  for (const char c : key) feed(static_cast<unsigned char>(c));
  return h != 0 ? h : 1;
}

}  // namespace dft::base
