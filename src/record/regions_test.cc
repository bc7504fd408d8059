// SPDX-License-Identifier: MIT
#include "record/regions.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "record/drained_records_for_test.h"
#include "record/emit.h"

namespace dft::record {
namespace {

class Regions : public testing::Test {
 protected:
  void SetUp() override { drained_.begin({}); }
  void TearDown() override {
    if (recording()) drained_.end();
  }
  model::SiteId site_ = site_id("region", "cat", model::Layer::kCppApp);
  DrainedRecords drained_;
};

TEST_F(Regions, CarryTypedArgsExactly) {
  Region* region = open_region(site_);
  add_int64(region, "min", INT64_MIN);
  add_uint64(region, "max", UINT64_MAX);
  add_double(region, "pi", 3.25);
  add_bool(region, "yes", true);
  add_string(region, "text", "a\"b\n");
  close_region(region);
  drained_.end();
  ASSERT_EQ(drained_.records.size(), 1u);
  const CopiedRecord& record = drained_.records[0];
  EXPECT_NE(record.header().schema, model::kSelfDescribing);
  EXPECT_EQ(record.header().site, site_);
  EXPECT_LE(record.header().begin, record.header().end);
  EXPECT_EQ(static_cast<std::int64_t>(record.arg("min")), INT64_MIN);
  EXPECT_EQ(record.arg("max"), UINT64_MAX);
  EXPECT_EQ(record.arg("yes"), 1u);
  EXPECT_EQ(record.text("text"), "a\"b\n");
}

TEST_F(Regions, TheLastWriteToAKeyWins) {
  Region* region = open_region(site_);
  add_int64(region, "k", 1);
  add_string(region, "k", "longer than a number");
  add_int64(region, "other", 5);
  add_double(region, "other", 0.5);
  add_int64(region, "other", 6);
  close_region(region);
  drained_.end();
  ASSERT_EQ(drained_.records.size(), 1u);
  EXPECT_EQ(drained_.records[0].text("k"), "longer than a number");
  EXPECT_EQ(drained_.records[0].arg("other"), 6u);
}

TEST_F(Regions, StaleAndStrayHandlesAreIgnored) {
  Region* region = open_region(site_);
  close_region(region);
  Region* reused = open_region(site_);  // takes the same slot
  close_region(region);
  add_int64(region, "k", 1);
  EXPECT_FALSE(is_open(region));
  EXPECT_TRUE(is_open(reused));
  int local = 0;
  close_region(reinterpret_cast<Region*>(&local));
  close_region(reinterpret_cast<Region*>(std::uintptr_t{12345}));
  close_region(nullptr);
  close_region(reused);
  drained_.end();
  EXPECT_EQ(drained_.records.size(), 2u);
}

TEST_F(Regions, AHandleOfAnEarlierRecordingIsStale) {
  Region* before = open_region(site_);
  drained_.end();
  drained_.begin({});
  for (int i = 0; i < 20; ++i) {
    Region* now = open_region(site_);
    close_region(before);
    EXPECT_TRUE(is_open(now));
    close_region(now);
  }
}

TEST_F(Regions, HandlesOfAnEarlierRecordingAreStaleWhereverTheySit) {
  std::vector<Region*> before(300);  // more than the later recording has slots when they are tried
  for (Region*& region : before) region = open_region(site_);
  drained_.end();
  drained_.begin({});
  std::vector<Region*> now(1, open_region(site_));
  for (Region* region : before) {
    EXPECT_FALSE(is_open(region));
    add_int64(region, "k", 1);
    close_region(region);
  }
  for (int i = 0; i < 300; ++i) now.push_back(open_region(site_));
  for (Region* region : now) close_region(region);
  drained_.end();
  EXPECT_EQ(drained_.records.size(), now.size());
}

TEST_F(Regions, CanEndAtGivenTimesOrAsNothing) {
  Region* outer = open_region(site_);
  Region* at = open_region(site_);
  Region* dropped = open_region(site_);
  add_int64(at, "k", 7);
  add_string(dropped, "k", std::string(1000, 'x'));  // more than its slot holds
  drop_region(dropped);
  EXPECT_FALSE(is_open(dropped));
  drop_region(dropped);
  drop_region(nullptr);
  close_region_at(at, 1000, 3000);
  EXPECT_FALSE(is_open(at));
  close_region_at(at, 1, 2);
  close_region_at(nullptr, 1, 2);
  close_region(outer);
  drained_.end();
  ASSERT_EQ(drained_.records.size(), 2u);
  const model::RecordHeader& header = drained_.records[0].header();
  EXPECT_EQ(header.begin, 1000u);
  EXPECT_EQ(header.end, 3000u);
  EXPECT_EQ(header.flags, model::kFlagNanoseconds);
  EXPECT_EQ(drained_.records[0].arg("k"), 7u);
  EXPECT_EQ(drained_.records[1].header().flags, 0);
}

TEST_F(Regions, InterleaveFreely) {
  std::vector<Region*> open;
  for (int i = 0; i < 5000; ++i) {
    open.push_back(open_region(site_));
    add_int64(open.back(), "i", i);
  }
  for (int i = 0; i < 5000; i += 2) close_region(open[static_cast<std::size_t>(i)]);
  for (int i = 4999; i > 0; i -= 2) close_region(open[static_cast<std::size_t>(i)]);
  drained_.end();
  ASSERT_EQ(drained_.records.size(), 5000u);
  EXPECT_EQ(drained_.records[1].arg("i"), 2u);
  EXPECT_EQ(drained_.records[2500].arg("i"), 4999u);
}

TEST_F(Regions, CanBeClosedByAnotherThreadAndTheSlotComesBack) {
  for (int round = 0; round < 2000; ++round) {
    Region* region = open_region(site_);
    std::thread([&] { close_region(region); }).join();
    drained_.step();
  }
  drained_.end();
  EXPECT_EQ(drained_.records.size(), 2000u);
}

struct CountingVisitor final : OpenRegionVisitor {
  void visit(const model::RegionSlot& slot, const char* args) override {
    ++count;
    const model::ArgExtent extent = slot.extent.load();
    model::SchemaView schema;
    EXPECT_TRUE(recorder.definitions.schema(extent.schema, schema));
    model::ArgCursor cursor(args, extent.bytes, schema);
    model::ArgView view;
    while (cursor.next(view)) last_key.assign(view.key, view.key_len);
  }
  int count = 0;
  std::string last_key;
};

TEST_F(Regions, OpenOnesAreFoundAtTheEnd) {
  Region* closed = open_region(site_);
  Region* open = open_region(site_);
  add_string(open, "spilled", std::string(1000, 'y'));
  close_region(closed);
  recorder.quiesce(1'000'000'000);
  CountingVisitor visitor;
  visit_open_regions(visitor);
  EXPECT_EQ(visitor.count, 1);
  EXPECT_EQ(visitor.last_key, "spilled");
  recorder.forget_threads();
  EXPECT_FALSE(is_open(open));
}

TEST_F(Regions, MetadataRegionsIgnoreUpdates) {
  Region* region = open_region(site_, true);
  add_int64(region, "k", 1);
  close_region(region);
  drained_.end();
  ASSERT_EQ(drained_.records.size(), 1u);
  EXPECT_EQ(drained_.records[0].header().schema, model::kNoArgs);
}

}  // namespace
}  // namespace dft::record
