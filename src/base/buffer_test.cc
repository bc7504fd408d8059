// SPDX-License-Identifier: MIT
#include "base/buffer.h"

#include <gtest/gtest.h>

#include <string>

namespace dft::base {
namespace {

TEST(Buffer, KeepsContentsWhileItGrows) {
  Buffer buffer;
  std::string expected;
  for (int i = 0; i < 100'000; ++i) {
    const std::string piece = std::to_string(i) + ";";
    buffer.append(piece);
    expected += piece;
  }
  EXPECT_EQ(buffer.view(), expected);
  EXPECT_FALSE(buffer.failed());
}

TEST(Buffer, RefusedMemoryIsReportedAndChangesNothing) {
  Buffer buffer;
  buffer.append("abc");
  EXPECT_FALSE(buffer.reserve(std::size_t{1} << 46));
  EXPECT_EQ(buffer.view(), "abc");
}

TEST(Buffer, MoveLeavesTheSourceEmpty) {
  Buffer a;
  a.append("abc");
  Buffer b(std::move(a));
  EXPECT_EQ(b.view(), "abc");
  EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move): the state after a move is the promise under test
  a = std::move(b);
  EXPECT_EQ(a.view(), "abc");
}

}  // namespace
}  // namespace dft::base
