// SPDX-License-Identifier: MIT
// Built once for each compressor that the machine has.
#include "encode/block_compressor.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "encode/gzip_member.h"
#include "model/trace_format.h"

namespace dft::encode {
namespace {

std::string sample_block(std::size_t size) {
  std::string out;
  for (unsigned i = 1; out.size() < size; ++i) {
    out += "{\"id\":" + std::to_string(i) +
           ",\"name\":\"read\",\"cat\":\"POSIX\",\"type\":3,\"pid\":77,\"tid\":77,\"ts\":" +
           std::to_string(1795959606742921ull + i * 37) + ",\"dur\":" + std::to_string(i * 7919 % 1000) +
           ",\"ph\":1}\n";
  }
  return out;
}

std::string noise(std::size_t size) {
  std::mt19937 random(3);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random());
  return out;
}

// Reads all members as any gzip tool does; checks each CRC.
std::string gunzip(std::string_view bytes) {
  std::string out;
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  while (stream.avail_in != 0) {
    char piece[65536];
    int result = Z_OK;
    while (result == Z_OK) {
      stream.next_out = reinterpret_cast<Bytef*>(piece);
      stream.avail_out = sizeof piece;
      result = inflate(&stream, Z_NO_FLUSH);
      out.append(piece, sizeof piece - stream.avail_out);
    }
    EXPECT_EQ(result, Z_STREAM_END);
    if (result != Z_STREAM_END || inflateReset(&stream) != Z_OK) break;
  }
  inflateEnd(&stream);
  return out;
}

std::uint32_t le32(std::string_view bytes, std::size_t at) {
  std::uint32_t out;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

TEST(BlockCompressor, MembersAreReadableByZlib) {
  BlockCompressor compressor;
  for (const std::size_t size : {0u, 1u, 100u, 65536u, 1u << 20, 5u << 20}) {
    const std::string block = size == 1 ? "\n" : sample_block(size);
    base::Buffer out;
    ASSERT_TRUE(compressor.compress(block, 1, out));
    EXPECT_TRUE(gunzip(out.view()) == block) << size;
  }
}

TEST(BlockCompressor, TheSumIsRightForEveryLength) {
  BlockCompressor compressor;
  const std::string bytes = noise(60'000);
  base::Buffer out;
  // The wide sum takes rounds of 9,600 bytes, from two of them on.
  std::vector<std::size_t> sizes;
  for (const std::size_t from : {1u, 9'568u, 19'136u, 28'736u, 48'000u}) {
    for (std::size_t size = from; size < from + 200; ++size) sizes.push_back(size);
  }
  for (const std::size_t size : sizes) {
    const std::string_view block = std::string_view(bytes).substr(size % 64, size);
    out.clear();
    ASSERT_TRUE(compressor.compress(block, 1, out));
    ASSERT_TRUE(gunzip(out.view()) == block) << size;
  }
}

TEST(BlockCompressor, MembersConcatenate) {
  BlockCompressor compressor;
  base::Buffer out;
  std::string all;
  for (unsigned i = 0; i < 20; ++i) {
    const std::string block = sample_block(1000 + 5000 * i);
    all += block;
    ASSERT_TRUE(compressor.compress(block, i, out));
  }
  EXPECT_TRUE(gunzip(out.view()) == all);
}

TEST(BlockCompressor, TheHeaderTellsTheSizes) {
  BlockCompressor compressor;
  base::Buffer out;
  const std::string first = sample_block(300000), second = sample_block(10);
  ASSERT_TRUE(compressor.compress(first, 4711, out));
  const std::size_t first_size = out.size();
  ASSERT_TRUE(compressor.compress(second, 1, out));

  const std::string_view bytes = out.view();
  const std::string fixed("\x1f\x8b\x08\x04\0\0\0\0\x04\x03\x10\0DF\x0c\0", 16);  // FEXTRA only, no time, OS 3
  ASSERT_EQ(bytes.substr(0, 16), fixed);
  EXPECT_EQ(le32(bytes, 16), first_size);
  EXPECT_EQ(le32(bytes, 20), first.size());
  EXPECT_EQ(le32(bytes, 24), 4711u);
  // Hop: the next member begins where the first says.
  ASSERT_EQ(bytes.substr(first_size, 16), fixed);
  EXPECT_EQ(le32(bytes, first_size + 16), bytes.size() - first_size);
  EXPECT_EQ(le32(bytes, first_size + 20), second.size());
  EXPECT_EQ(le32(bytes, first_size + 24), 1u);
  EXPECT_EQ(kMemberHeaderSize, 28u);
}

TEST(BlockCompressor, BytesThatDoNotCompressStillFit) {
  BlockCompressor compressor;
  for (const std::size_t size : {10u, 5000u, 1u << 20, 3u << 20}) {
    const std::string block = noise(size);
    base::Buffer out;
    ASSERT_TRUE(compressor.compress(block, 0, out));
    EXPECT_TRUE(gunzip(out.view()) == block) << size;
  }
}

TEST(BlockCompressor, TheSameBlockGivesTheSameBytes) {
  BlockCompressor compressor, other;
  const std::string block = sample_block(200000);
  base::Buffer a, b, c;
  ASSERT_TRUE(compressor.compress(block, 9, a));
  ASSERT_TRUE(compressor.compress(noise(100000), 9, b));
  ASSERT_TRUE(other.compress(block, 9, c));
  b.clear();
  ASSERT_TRUE(compressor.compress(block, 9, b));
  EXPECT_TRUE(a.view() == b.view());
  EXPECT_TRUE(a.view() == c.view());
}

TEST(BlockCompressor, RefusesWhatItsFieldsCannotHold) {
  BlockCompressor compressor;
  base::Buffer out;
  ASSERT_TRUE(compressor.compress("x\n", 1, out));
  const std::size_t before = out.size();
  // Only the length is looked at.
  const std::string_view huge("x", std::size_t{1} << 32);
  EXPECT_FALSE(compressor.compress(huge, 1, out));
  EXPECT_EQ(out.size(), before);
}

TEST(BlockCompressor, CompressesTraceLinesWell) {
  BlockCompressor compressor;
  const std::string block = sample_block(1 << 20);
  base::Buffer out;
  ASSERT_TRUE(compressor.compress(block, 1, out));
  EXPECT_LT(out.size() * 6, block.size()) << BlockCompressor::name();
}

}  // namespace
}  // namespace dft::encode
