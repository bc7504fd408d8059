// SPDX-License-Identifier: MIT
#include "sources/gpu/lanes.h"

#include <gtest/gtest.h>

#include "record/drained_records_for_test.h"

namespace dft::gpu {
namespace {

class LanesTest : public testing::Test {
 protected:
  void SetUp() override { drained_.begin({}); }
  // "lane name" of every thread_name record, in order.
  std::vector<std::string> names() {
    drained_.end();
    std::vector<std::string> all;
    for (const record::CopiedRecord& record : drained_.records) {
      EXPECT_EQ(record.text("value"), "thread_name");
      all.push_back(std::to_string(record.header().lane - Lanes::kFirst) + " " + record.text("name"));
    }
    return all;
  }
  record::DrainedRecords drained_;
  Lanes lanes_;
};

TEST_F(LanesTest, OneNumberAndOneNameEach) {
  EXPECT_EQ(lanes_.of(LaneKind::kStream, 0, 1, 7), Lanes::kFirst);
  EXPECT_EQ(lanes_.of(LaneKind::kStream, 0, 1, 13), Lanes::kFirst + 1);
  EXPECT_EQ(lanes_.of(LaneKind::kStream, 0, 1, 7), Lanes::kFirst);
  EXPECT_EQ(lanes_.of(LaneKind::kSync, 0, 1, kNoId), Lanes::kFirst + 2);
  EXPECT_EQ(lanes_.of(LaneKind::kMemory, 0, kNoId, kNoId), Lanes::kFirst + 3);
  EXPECT_EQ(lanes_.of(LaneKind::kUnifiedMemory, 0, kNoId, kNoId), Lanes::kFirst + 4);
  EXPECT_EQ(lanes_.of(LaneKind::kUnifiedMemory, kNoId, kNoId, kNoId), Lanes::kFirst + 5);
  EXPECT_EQ(lanes_.of(LaneKind::kOverhead, kNoId, kNoId, kNoId), Lanes::kFirst + 6);
  EXPECT_EQ(names(),
            (std::vector<std::string>{"0 GPU 0 stream 7", "1 GPU 0 stream 13", "2 GPU 0 sync", "3 GPU 0 memory",
                                      "4 GPU 0 unified memory", "5 GPU unified memory", "6 CUPTI overhead"}));
}

TEST_F(LanesTest, ASecondContextOfADeviceStandsInTheNames) {
  lanes_.of(LaneKind::kStream, 0, 1, 7);
  lanes_.of(LaneKind::kStream, 1, 5, 7);
  lanes_.of(LaneKind::kStream, 0, 2, 7);
  EXPECT_EQ(names(), (std::vector<std::string>{"0 GPU 0 stream 7", "1 GPU 1 stream 7", "0 GPU 0 context 1 stream 7",
                                               "2 GPU 0 context 2 stream 7"}));
}

TEST_F(LanesTest, KnowsTheDeviceOfAContext) {
  EXPECT_EQ(lanes_.device_of(3), kNoId);
  lanes_.add_context(3, 1);
  EXPECT_EQ(lanes_.device_of(3), 1u);
}

TEST_F(LanesTest, ThousandsOfStreamsKeepTheirNumbers) {
  for (std::uint32_t s = 0; s < 5000; ++s) ASSERT_EQ(lanes_.of(LaneKind::kStream, 0, 1, s), Lanes::kFirst + s);
  for (std::uint32_t s = 0; s < 5000; ++s) ASSERT_EQ(lanes_.of(LaneKind::kStream, 0, 1, s), Lanes::kFirst + s);
  EXPECT_EQ(names().size(), 5000u);
}

TEST_F(LanesTest, NumbersAreCountedOverAllVendors) {
  Lanes other;
  EXPECT_EQ(lanes_.of(LaneKind::kStream, 0, 1, 7), Lanes::kFirst);
  EXPECT_EQ(other.of(LaneKind::kQueue, 0, kNoId, 3), Lanes::kFirst + 1);
  EXPECT_EQ(lanes_.of(LaneKind::kSync, 0, 1, kNoId), Lanes::kFirst + 2);
  EXPECT_EQ(other.of(LaneKind::kCopies, 0, kNoId, kNoId), Lanes::kFirst + 3);
  other.forget();
  EXPECT_EQ(other.of(LaneKind::kScratch, 0, kNoId, kNoId), Lanes::kFirst + 4);  // none is given twice
  other.forget();
  lanes_.forget();
  EXPECT_EQ(other.of(LaneKind::kPageMigration, 0, kNoId, kNoId), Lanes::kFirst);  // a new trace
  EXPECT_EQ(names(), (std::vector<std::string>{"0 GPU 0 stream 7", "1 GPU 0 queue 3", "2 GPU 0 sync", "3 GPU 0 copies",
                                               "4 GPU 0 scratch memory", "0 GPU 0 page migration"}));
}

}  // namespace
}  // namespace dft::gpu
