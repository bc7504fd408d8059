// SPDX-License-Identifier: MIT
#include "session/keyed_texts.h"

#include <gtest/gtest.h>

#include <string>

namespace dft::session {
namespace {

TEST(KeyedTexts, KeepsTheOrderOfTheKeysAndTheLastTextOfEach) {
  KeyedTexts texts;
  EXPECT_TRUE(texts.put("b", "1"));
  EXPECT_TRUE(texts.put("a", "a longer text"));
  EXPECT_TRUE(texts.put("", "empty key"));
  EXPECT_TRUE(texts.put("b", "longer than before"));
  EXPECT_TRUE(texts.put("a", "short"));
  EXPECT_TRUE(texts.put("", ""));
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts.key(0), "b");
  EXPECT_EQ(texts.text(0), "longer than before");
  EXPECT_EQ(texts.key(1), "a");
  EXPECT_EQ(texts.text(1), "short");
  EXPECT_EQ(texts.key(2), "");
  EXPECT_EQ(texts.text(2), "");
}

TEST(KeyedTexts, FindsEachOfManyKeys) {
  KeyedTexts texts;
  constexpr int kKeys = 20'000;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(texts.put("key" + std::to_string(i), std::to_string(i + round)));
    }
  }
  ASSERT_EQ(texts.size(), static_cast<std::size_t>(kKeys));
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_EQ(texts.key(static_cast<std::size_t>(i)), "key" + std::to_string(i));
    ASSERT_EQ(texts.text(static_cast<std::size_t>(i)), std::to_string(i + 1));
  }
}

TEST(KeyedTexts, ReplacedTextsGiveTheirMemoryBack) {
  KeyedTexts texts;
  std::string text;
  for (int i = 0; i < 4'000; ++i) {  // each longer than the last: 8 MB were it all kept
    text += 'x';
    ASSERT_TRUE(texts.put("same", text));
    ASSERT_TRUE(texts.put("other", "stays"));
  }
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts.text(0), text);
  EXPECT_EQ(texts.text(1), "stays");
  EXPECT_LE(texts.memory(), 512u * 1024);
}

TEST(KeyedTexts, CanBeUsedAgainAfterRelease) {
  KeyedTexts texts;
  texts.put("a", "1");
  texts.release();
  EXPECT_EQ(texts.size(), 0u);
  EXPECT_EQ(texts.memory(), 0u);
  texts.put("a", "2");
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(texts.text(0), "2");
}

}  // namespace
}  // namespace dft::session
