// SPDX-License-Identifier: MIT
#include "sources/gpu/rocprof/markers.h"

#include <gtest/gtest.h>

#include <thread>

#include "record/drained_records_for_test.h"

namespace dft::gpu::rocprof {
namespace {

constexpr MarkerOperations kOperations = {0, 1, 2, 3, 4, false};

class MarkersTest : public testing::Test {
 protected:
  void SetUp() override {
    drained_.begin({});
    configure_markers(kOperations);
    record_markers(true);
  }
  void TearDown() override { record_markers(false); }
  void call(int operation, MarkerData data, std::uint64_t result = 0) {
    CallbackRecord1 record{};
    record.correlation.internal = ++correlation_;
    record.correlation.ancestor = ancestor_;
    record.operation = operation;
    data.size = sizeof data;
    record.payload = &data;
    std::uint64_t user = 0;
    record.phase = kEnter;
    on_marker1(record, &user, nullptr);
    data.result = result;
    record.phase = kExit;
    on_marker1(record, &user, nullptr);
  }
  void text(int operation, const char* message, std::uint64_t result = 0) {
    MarkerData data{};
    data.message = message;
    call(operation, data, result);
  }
  void pop() { call(kOperations.pop, {}); }
  void stop(std::uint64_t id) {
    MarkerData data{};
    data.range_id = id;
    call(kOperations.stop, data);
  }
  std::vector<std::string> names() {
    drained_.end();
    std::vector<std::string> all;
    for (const record::CopiedRecord& record : drained_.records) {
      model::SiteDef site{};
      EXPECT_TRUE(record::recorder.definitions.site(record.header().site, site));
      all.emplace_back(site.name);
    }
    return all;
  }
  std::uint64_t correlation_ = 100, ancestor_ = 0;
  record::DrainedRecords drained_;
};

TEST_F(MarkersTest, RangesOfAThreadAreNested) {
  text(kOperations.push, "outer");
  text(kOperations.push, "inner");
  text(kOperations.mark, "mark");
  pop();
  pop();
  pop();  // one too many
  EXPECT_EQ(names(), (std::vector<std::string>{"mark", "inner", "outer"}));
}

TEST_F(MarkersTest, RangesThatStartAndStopArePairedByTheirIdOverThreads) {
  text(kOperations.start, "first", 11);
  text(kOperations.start, "second", 12);
  stop(12 + 4096);  // shares its place
  std::thread([this] { stop(11); }).join();
  stop(99);
  stop(12);
  stop(12);
  EXPECT_EQ(names(), (std::vector<std::string>{"first", "second"}));
}

TEST_F(MarkersTest, WithoutATextItIsAMarker) {
  text(kOperations.mark, nullptr);
  text(kOperations.mark, "");
  EXPECT_EQ(names(), (std::vector<std::string>{"marker", "marker"}));
}

TEST_F(MarkersTest, SwitchedOffNothingIsRecordedAndPopsStayPaired) {
  record_markers(false);
  text(kOperations.push, "off");
  record_markers(true);
  text(kOperations.push, "on");
  pop();
  pop();
  EXPECT_EQ(names(), std::vector<std::string>{"on"});
}

TEST_F(MarkersTest, ARangeWithAnIdOfItsOwnIsWhatCallsWithinReferTo) {
  MarkerOperations operations = kOperations;
  operations.ranges_have_ids = true;
  configure_markers(operations);
  ancestor_ = 55;
  text(kOperations.push, "range");
  EXPECT_TRUE(is_marker(55));
  EXPECT_FALSE(is_marker(54));
  EXPECT_FALSE(is_marker(0));
  pop();
  drained_.end();
  ASSERT_EQ(drained_.records.size(), 1u);
  EXPECT_EQ(drained_.records[0].arg("correlation_id"), 55u);
}

TEST_F(MarkersTest, DataOfAnotherSizeIsLeftAlone) {
  CallbackRecord0 record{};
  std::uint64_t size = 8, user = 0;
  record.payload = &size;
  record.phase = kEnter;
  on_marker0(record, &user, nullptr);
  EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace dft::gpu::rocprof
