// SPDX-License-Identifier: MIT
#include "sources/gpu/cupti/capture.h"

#include <gtest/gtest.h>

namespace dft::gpu::cupti {
namespace {

class CaptureTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(pool_.reserve(4096, 2 * 4096, nullptr));
    capture.pool = &pool_;
    capture.may_refuse = true;
    capture.dead = false;
  }
  void TearDown() override { capture.pool = nullptr; }
  std::uint8_t* request() {
    std::uint8_t* buffer = nullptr;
    std::size_t most = 99;
    request_buffer(&buffer, &size_, &most);
    EXPECT_EQ(most, 0u);
    return buffer;
  }
  BufferPool pool_;
  std::size_t size_ = 0;
};

TEST_F(CaptureTest, ABufferGoesFromThePoolToTheQueue) {
  std::uint8_t* buffer = request();
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(size_, 4096u);
  buffer_completed(nullptr, 0, buffer, size_, 40);
  EXPECT_EQ(pool_.drain([](const RawBuffer& raw) { EXPECT_EQ(raw.valid, 40u); }), 1u);
}

TEST_F(CaptureTest, AtTheLimitNewLibrariesGetNothing) {
  request();
  request();
  EXPECT_EQ(request(), nullptr);
  EXPECT_EQ(size_, 0u);
  EXPECT_EQ(pool_.take_refused(), 1u);
}

TEST_F(CaptureTest, AtTheLimitOldLibrariesGetScratch) {
  capture.may_refuse = false;
  request();
  request();
  std::uint8_t* scratch = request();
  ASSERT_NE(scratch, nullptr);
  buffer_completed(nullptr, 0, scratch, size_, 80);
  EXPECT_FALSE(pool_.has_filled());
  EXPECT_EQ(pool_.take_scratch_bytes(), 80u);
}

TEST_F(CaptureTest, InAForkedChildEverythingIsThrownAway) {
  std::uint8_t* buffer = request();
  capture.dead = true;
  buffer_completed(nullptr, 0, buffer, size_, 40);
  EXPECT_FALSE(pool_.has_filled());
  EXPECT_EQ(request(), nullptr);
  capture.may_refuse = false;
  EXPECT_NE(request(), nullptr);
}

TEST_F(CaptureTest, NullBuffersAndForeignBuffersAreLeftAlone) {
  std::uint8_t foreign[64] = {};
  buffer_completed(nullptr, 0, nullptr, 0, 0);
  buffer_completed(nullptr, 0, foreign, sizeof foreign, sizeof foreign);
  EXPECT_FALSE(pool_.has_filled());
  EXPECT_EQ(pool_.take_foreign(), 1u);
}

}  // namespace
}  // namespace dft::gpu::cupti
