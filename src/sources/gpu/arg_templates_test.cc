// SPDX-License-Identifier: MIT
// Records that carry only what changes: the same args as with all values in the record, and not without bound.
#include "sources/gpu/arg_templates.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "record/drained_records_for_test.h"
#include "sources/gpu/activity_writer_inline.h"
#include "sources/gpu/fake_backend.h"

namespace dft::gpu {
namespace {

class ArgTemplatesTest : public testing::Test {
 protected:
  void SetUp() override {
    drained_.begin({});
    clock_.add({1'000'000, 5'000'000, 1'000'000, 10});
    clock_.add({9'000'000, 13'000'000, 9'000'000, 10});
    writer_->configure({}, backend_, clock_);
    writer_->arrived_at(8'000'000);
  }
  static Activity kernel(std::uint32_t correlation, std::int32_t grid) {
    Activity activity;
    activity.begin = 2'000'000 + correlation;
    activity.end = 2'000'700 + 2 * correlation;
    activity.device = 0;
    activity.context = 1;
    activity.stream = 7;
    activity.correlation = correlation;
    activity.kernel = {};
    activity.kernel.symbol = "_Z4workv";
    activity.kernel.grid_id = -5;
    activity.kernel.grid[0] = grid;
    activity.kernel.block[2] = -1;
    return activity;
  }
  static Activity call(std::uint32_t correlation, std::uint32_t tid) {
    Activity activity;
    activity.kind = ActivityKind::kRuntimeApi;
    activity.operation = 1;
    activity.begin = 1'999'500 + correlation;
    activity.end = 1'999'900 + correlation;
    activity.correlation = correlation;
    activity.api = {42, tid, 0, nullptr};
    return activity;
  }
  static Activity copy(std::uint32_t correlation, std::uint64_t bytes) {
    Activity activity = kernel(correlation, 1);
    activity.kind = ActivityKind::kMemcpy;
    activity.operation = 1;
    activity.copy = {};
    activity.copy.bytes = bytes;
    return activity;
  }
  std::vector<record::CopiedRecord> events() {
    drained_.end();
    std::vector<record::CopiedRecord> all;
    for (const record::CopiedRecord& record : drained_.records) {
      if (record.header().kind == model::RecordKind::kEvent) all.push_back(record);
    }
    return all;
  }
  // Keys and values, as far as they are no text.
  static std::string args_of(const record::CopiedRecord& record) {
    std::string text;
    model::ArgCursor cursor;
    EXPECT_TRUE(model::open_args(record.header(), record::recorder.definitions, cursor));
    for (model::ArgView arg; cursor.next(arg);) {
      text += std::string(arg.key, arg.key_len) + "=" + std::to_string(arg.bits()) + " ";
    }
    EXPECT_TRUE(cursor.at_end());
    return text;
  }
  static bool has_constants(const record::CopiedRecord& record) {
    return (record.header().flags & model::kFlagConstants) != 0;
  }
  static std::size_t count_constants(const std::vector<record::CopiedRecord>& records) {
    std::size_t count = 0;
    for (const auto& record : records) count += has_constants(record) ? 1 : 0;
    return count;
  }

  FakeBackend backend_;
  GpuClock clock_;
  std::unique_ptr<ActivityWriter> writer_ = std::make_unique<ActivityWriter>();
  record::DrainedRecords drained_;
};

TEST_F(ArgTemplatesTest, WhatComesRepeatedlyHasTheSameArgsInFewerBytes) {
  for (std::uint32_t i = 1; i <= 8; ++i) {
    writer_->activity(kernel(i, 32));
    writer_->activity(copy(100 + i, 4096));
  }
  const auto all = events();
  ASSERT_EQ(all.size(), 16u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(has_constants(all[i]), i >= 6) << i;
    EXPECT_EQ(all[i].header().lane, all[0].header().lane);
    EXPECT_EQ(all[i].header().site, all[i % 2].header().site);
    const std::string number = std::to_string(i / 2 + 1 + (i % 2) * 100);
    EXPECT_NE(args_of(all[i]).find("correlation_id=" + number + " "), std::string::npos) << args_of(all[i]);
  }
  const auto without_own = [](std::string args) {
    for (const char* key : {"correlation_id=", "dur_ns="}) {
      const std::size_t at = args.find(key);
      args.erase(at, args.find(' ', at) - at);
    }
    return args;
  };
  for (std::size_t i = 2; i < all.size(); ++i)
    EXPECT_EQ(without_own(args_of(all[i])), without_own(args_of(all[i % 2])));
  EXPECT_LT(all[14].words.size(), all[0].words.size() / 2);
}

TEST_F(ArgTemplatesTest, TheShortWayWritesTheSame) {
  std::vector<Activity> activities;
  for (std::uint32_t i = 1; i <= 40; ++i) {
    activities.push_back(call(i, 70 + i % 2));
    activities.push_back(kernel(i, static_cast<std::int32_t>(i % 3)));
    if (i % 7 == 0) activities.back().kernel.registers_per_thread = i / 20;
    if (i % 10 == 0) activities.back().end = 1'000'000;  // suspect
    if (i % 11 == 0) activities.push_back(copy(i, 4096));
  }
  for (const Activity& activity : activities) writer_->activity(activity);
  unsigned short_ones = 0;
  for (const Activity& activity : activities) {
    const bool is_call = activity.kind == ActivityKind::kRuntimeApi;
    const bool is_kernel = activity.kind == ActivityKind::kKernel;
    if (is_call && writer_->try_call<ActivityKind::kRuntimeApi>(call_of(activity))) {
      ++short_ones;
    } else if (is_kernel && writer_->try_launch(launch_of(activity))) {
      ++short_ones;
    } else {
      writer_->activity(activity);
    }
  }
  writer_->end_run();
  EXPECT_EQ(writer_->counts().records[static_cast<unsigned>(ActivityKind::kKernel)], 80u);
  EXPECT_GT(short_ones, activities.size() * 3 / 4);
  const auto all = events();
  ASSERT_EQ(all.size(), 2 * activities.size());
  for (std::size_t i = 0; i < activities.size(); ++i) {
    const auto& one = all[i].header();
    const auto& other = all[i + activities.size()].header();
    EXPECT_EQ(args_of(all[i]), args_of(all[i + activities.size()])) << i;
    EXPECT_EQ(one.begin, other.begin);
    EXPECT_EQ(one.end, other.end);
    EXPECT_EQ(one.lane, other.lane);
    EXPECT_EQ(one.site, other.site);
  }
}

TEST_F(ArgTemplatesTest, WhatIsNotCommonIsLeftToTheLongWay) {
  for (std::uint32_t i = 1; i <= 5; ++i) writer_->activity(call(i, 70)), writer_->activity(kernel(i, 1));
  ApiCall failed = call_of(call(9, 70));
  failed.return_value = 2;
  EXPECT_FALSE(writer_->try_call<ActivityKind::kRuntimeApi>(failed));
  EXPECT_FALSE(writer_->try_call<ActivityKind::kDriverApi>(call_of(call(9, 70))));
  Activity unknown = kernel(9, 1);
  unknown.kernel.cluster[2] = 1;
  EXPECT_FALSE(writer_->try_launch(launch_of(unknown)));
  Activity early = kernel(5, 1);
  early.begin = 1'999'000;  // before the call that asked for it
  EXPECT_FALSE(writer_->try_launch(launch_of(early)));
  Activity future = kernel(9, 1);
  future.end = 30'000'000;
  EXPECT_FALSE(writer_->try_launch(launch_of(future)));
  EXPECT_TRUE(writer_->try_launch(launch_of(kernel(9, 1))));
  writer_->loss(LossCause::kDropped, 1, 0, nullptr);  // leaves the recorder first
  EXPECT_EQ(record::this_thread->level.load(), 0u);
  EXPECT_EQ(events().size(), 11u);
}

TEST_F(ArgTemplatesTest, EveryOtherValueIsSeen) {
  for (std::uint32_t i = 0; i < 60; ++i) writer_->activity(kernel(i + 1, static_cast<std::int32_t>(i % 3)));
  Activity last = kernel(99, 0);
  last.kernel.cluster[1] = 2;
  writer_->activity(last);
  const auto all = events();
  ASSERT_EQ(all.size(), 61u);
  for (std::size_t i = 0; i < 60; ++i) EXPECT_EQ(all[i].arg("grid_x"), i % 3);
  EXPECT_EQ(all[60].arg("cluster_y"), 2u);
  EXPECT_EQ(count_constants(all), 60u - 3 * 3);
}

TEST_F(ArgTemplatesTest, ASuspectTimeAndAFailedCallAreWrittenWithTheirTexts) {
  for (std::uint32_t i = 1; i <= 5; ++i) writer_->activity(kernel(i, 32));
  Activity reversed = kernel(6, 32);
  reversed.end = 1'500'000;
  writer_->activity(reversed);
  const auto all = events();
  EXPECT_EQ(all[5].text("clock_suspect"), "reversed");
  EXPECT_TRUE(has_constants(all[4]));
  EXPECT_FALSE(has_constants(all[5]));
}

TEST_F(ArgTemplatesTest, ArgsThatAlwaysChangeUseNoneUp) {
  for (std::uint32_t i = 1; i <= 20'000; ++i) writer_->activity(copy(i, i));
  for (std::uint32_t i = 1; i <= 5; ++i) writer_->activity(copy(i, 7'000'000));
  const auto all = events();
  EXPECT_EQ(count_constants(all), 2u);
}

TEST_F(ArgTemplatesTest, BeyondTheLimitTheGeneralWayServes) {
  constexpr std::uint32_t kSizes = model::kMaxConstantSchemas + 300;
  for (std::uint32_t round = 1; round <= 4; ++round) {
    for (std::uint32_t size = 1; size <= kSizes; ++size) {
      for (std::uint32_t twice = 0; twice < 2; ++twice) writer_->activity(copy(round, 10'000'000 + size));
    }
  }
  const auto all = events();
  ASSERT_EQ(all.size(), kSizes * 8u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i].arg("bytes"), 10'000'000 + i / 2 % kSizes + 1) << i;
  }
}

}  // namespace
}  // namespace dft::gpu
