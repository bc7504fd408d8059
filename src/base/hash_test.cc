// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <string>

namespace dft::base {
namespace {

std::string hex(const Md5& digest) {
  std::string out;
  char two[3];
  for (const unsigned char byte : digest.bytes) {
    std::snprintf(two, sizeof two, "%02x", byte);
    out += two;
  }
  return out;
}

std::string hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

TEST(Md5, MatchesTheTestSuiteOfRfc1321) {
  EXPECT_EQ(hex(md5("")), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex(md5("a")), "0cc175b9c0f1b6a831c399e269772661");
  EXPECT_EQ(hex(md5("abc")), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(hex(md5("message digest")), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(hex(md5("abcdefghijklmnopqrstuvwxyz")), "c3fcd3d76192e4007dfb496cca67e13b");
  EXPECT_EQ(hex(md5("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")),
            "d174ab98d277d9f5a5611c2c9f419d9f");
  EXPECT_EQ(hex(md5("12345678901234567890123456789012345678901234567890123456789012345678901234567890")),
            "57edf4a22be3c955ac49da2e2107b67a");
}

// Lengths around the padding's edges, against values of another implementation (Python hashlib).
TEST(Md5, PadsRightAtBlockEdges) {
  EXPECT_EQ(hex(md5(std::string(55, 'x'))), "04364420e25c512fd958a70738aa8f72");
  EXPECT_EQ(hex(md5(std::string(56, 'x'))), "668a72d5ba17f08e62dabcafad6db14b");
  EXPECT_EQ(hex(md5(std::string(63, 'x'))), "7dc2ca208106a2f703567bdff99d8981");
  EXPECT_EQ(hex(md5(std::string(64, 'x'))), "c1bb4f81d892b2d57947682aeb252456");
  EXPECT_EQ(hex(md5(std::string(65, 'x'))), "1bc932052302d074bdec39795fe00cf6");
  EXPECT_EQ(hex(md5(std::string(1000, 'x'))), "398533d48111e9f664b1f64cb10c4b63");
  EXPECT_EQ(hex(md5(std::string(120, '\xff'))), "cbe6d15e968dc8757f8e69ed60fa2450");
}

TEST(StringHash, MatchesTheCheckVectorsOfTheFormat) {
  EXPECT_EQ(string_hash("corona211").view(), "2a702c695247d487");
  EXPECT_EQ(string_hash("/tmp/a").view(), "4a40025765d5119b");
  EXPECT_EQ(string_hash("train.py-node1-4242").view(), "dc6299c8868337f4");
}

TEST(EntityId, MatchesTheCheckVectorsOfTheFormat) {
  EXPECT_EQ(hex(entity_id("protein_structure", "MGYP0001")), "8f0de68c04eea0bf");
  EXPECT_EQ(hex(entity_id("sequence", "MGYP0001")), "d824b0bb91487885");
  EXPECT_EQ(hex(entity_id("", "")), "44bd44d473cd2214");
}

TEST(EntityId, KeepsTypeAndKeyApart) {
  EXPECT_NE(entity_id("ab", "c"), entity_id("a", "bc"));
  EXPECT_NE(entity_id("a", "b"), entity_id("b", "a"));
}

TEST(TableHash, SpreadsShortNames) {
  std::set<std::uint64_t> low_bits;
  for (int i = 0; i < 4096; ++i) low_bits.insert(table_hash("name" + std::to_string(i)) & 0xffff);
  EXPECT_GT(low_bits.size(), 3000u);  // an ideal function gives about 3970
}

}  // namespace
}  // namespace dft::base
