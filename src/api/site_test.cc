// SPDX-License-Identifier: MIT
#include "api/site.h"

#include <gtest/gtest.h>

namespace dft::api {
namespace {

std::string name_of(const char* spelled, std::size_t capacity = 64) {
  char memory[64];
  return std::string(instant_name(spelled, memory, capacity));
}

TEST(InstantName, TokensAreNames) {
  EXPECT_EQ(name_of("epoch"), "epoch");
  EXPECT_EQ(name_of(""), "");
  EXPECT_EQ(name_of(nullptr), "");
}

TEST(InstantName, LiteralsLoseTheirQuotesAndEscapes) {
  EXPECT_EQ(name_of(R"("epoch end")"), "epoch end");
  EXPECT_EQ(name_of(R"("a\"b\\c\nd\te\rf")"), "a\"b\\c\nd\te\rf");
  EXPECT_EQ(name_of(R"("")"), "");
}

TEST(InstantName, AdjacentLiteralsAreOneName) { EXPECT_EQ(name_of(R"("a" "b")"), "ab"); }

TEST(InstantName, LongLiteralsAreCutAtTheRoom) { EXPECT_EQ(name_of(R"("abcdef")", 4), "abcd"); }

TEST(InstantName, UnterminatedLiteralsEndAtTheirEnd) { EXPECT_EQ(name_of("\"ab\\"), "ab\\"); }

TEST(LayerOf, NumbersOutsideOfAByteAreUnknown) {
  EXPECT_EQ(layer_of(14), model::Layer::kCuda);
  EXPECT_EQ(layer_of(-1), model::Layer::kUnknown);
  EXPECT_EQ(layer_of(256), model::Layer::kUnknown);
}

}  // namespace
}  // namespace dft::api
