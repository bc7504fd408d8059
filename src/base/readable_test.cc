// SPDX-License-Identifier: MIT
#include "base/readable.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

namespace dft::base {
namespace {

class ReadableTest : public testing::Test {
 protected:
  static constexpr std::size_t kPage = 4096;
  void SetUp() override {
    void* memory = mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    memory_ = static_cast<char*>(memory);
    std::memset(memory_, 'x', 2 * kPage);
    ASSERT_EQ(mprotect(memory_ + 2 * kPage, kPage, PROT_NONE), 0);
  }
  void TearDown() override { munmap(memory_, 3 * kPage); }
  char* memory_ = nullptr;
};

TEST_F(ReadableTest, EveryByteOfAPageIsAsTheMemorySays) {
  errno = 77;
  EXPECT_TRUE(readable(memory_));
  EXPECT_TRUE(readable(memory_ + 2 * kPage - 1));
  EXPECT_FALSE(readable(memory_ + 2 * kPage));
  EXPECT_FALSE(readable(nullptr));
  EXPECT_FALSE(readable(reinterpret_cast<const void*>(8)));
  EXPECT_FALSE(readable(reinterpret_cast<const void*>(~0UL)));
  EXPECT_EQ(errno, 77);
}

TEST_F(ReadableTest, ATextMustBeReadableToItsEndOrItsLimit) {
  char* const near_end = memory_ + 2 * kPage - 3;
  EXPECT_EQ(readable_text(near_end, 100), nullptr);
  EXPECT_EQ(readable_text(near_end, 3), near_end);
  EXPECT_EQ(readable_text(memory_, 3 * kPage), nullptr);
  EXPECT_EQ(readable_text(memory_, 2 * kPage), memory_);
  near_end[2] = '\0';
  EXPECT_EQ(readable_text(near_end, 100), near_end);
  EXPECT_EQ(readable_text(memory_ + 1, 3 * kPage), memory_ + 1);
  EXPECT_EQ(readable_text(nullptr, 100), nullptr);
}

}  // namespace
}  // namespace dft::base
