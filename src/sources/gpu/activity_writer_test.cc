// SPDX-License-Identifier: MIT
#include "sources/gpu/activity_writer.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "record/drained_records_for_test.h"
#include "sources/gpu/fake_backend.h"

namespace dft::gpu {
namespace {

class ActivityWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    drained_.begin({});
    clock_.add({1'000'000, 5'000'000, 1'000'000, 10});
    clock_.add({9'000'000, 13'000'000, 9'000'000, 10});
    configure({});
    writer_.arrived_at(8'000'000);
  }
  void configure(const Settings& settings) { writer_.configure(settings, backend_, clock_); }
  Activity kernel(std::uint64_t begin, std::uint64_t end, std::uint32_t correlation = 9) {
    Activity activity;
    activity.begin = begin;
    activity.end = end;
    activity.device = 0;
    activity.context = 1;
    activity.stream = 7;
    activity.correlation = correlation;
    activity.kernel = KernelDetail{};
    activity.kernel.symbol = "_Z4workv";
    return activity;
  }
  Activity call(std::uint64_t begin, std::uint64_t end, std::uint32_t correlation = 9) {
    Activity activity;
    activity.kind = ActivityKind::kRuntimeApi;
    activity.operation = 1;
    activity.begin = begin;
    activity.end = end;
    activity.correlation = correlation;
    activity.api = {42, 77, 0, nullptr};
    return activity;
  }
  std::vector<record::CopiedRecord> events() {
    drained_.end();
    std::vector<record::CopiedRecord> all;
    for (record::CopiedRecord& record : drained_.records) {
      if (record.header().kind == model::RecordKind::kEvent) all.push_back(record);
    }
    return all;
  }
  // The only event.
  record::CopiedRecord event() {
    const auto all = events();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? record::CopiedRecord{std::vector<std::uint64_t>(4)} : all[0];
  }
  FakeBackend backend_;
  GpuClock clock_;
  ActivityWriter writer_;
  record::DrainedRecords drained_;
};

TEST_F(ActivityWriterTest, TimesAreTicksOfTheTraceClock) {
  writer_.activity(kernel(2'000'000, 2'000'700));
  const auto record = event();
  EXPECT_EQ(record.header().begin, 6'000'000u);
  EXPECT_EQ(record.header().end, 6'000'700u);
  EXPECT_EQ(record.arg("dur_ns"), 700u);
  EXPECT_EQ(record.text("clock_suspect"), "(absent)");
}

TEST_F(ActivityWriterTest, NanosecondTracesNeedNoDurNs) {
  Settings settings;
  settings.time_metric = model::TimeMetric::kNs;
  configure(settings);
  writer_.activity(kernel(2'000'000, 2'000'700));
  EXPECT_EQ(event().arg("dur_ns"), ~std::uint64_t{0});
}

TEST_F(ActivityWriterTest, CallsStandOnTheCallersThread) {
  writer_.activity(call(2'000'000, 2'000'500));
  const auto record = event();
  EXPECT_EQ(record.header().lane, 77u);
  EXPECT_EQ(record.arg("pid"), 42u);
  EXPECT_EQ(record.text("error"), "(absent)");
}

TEST_F(ActivityWriterTest, UnknownCallsAreNamedByTheirNumber) {
  Activity unknown = call(2'000'000, 2'000'500);
  unknown.operation = 1234;
  writer_.activity(unknown);
  model::SiteDef site{};
  ASSERT_TRUE(record::recorder.definitions.site(event().header().site, site));
  EXPECT_EQ(site.name, "cbid_1234");
}

TEST_F(ActivityWriterTest, InvalidIdsAreLeftOut) {
  Activity activity = kernel(2'000'000, 2'100'000);
  activity.stream = kNoId;
  writer_.activity(activity);
  const auto record = event();
  EXPECT_EQ(record.arg("device_id"), 0u);
  EXPECT_EQ(record.arg("stream_id"), ~std::uint64_t{0});
  EXPECT_EQ(record.arg("graph_id"), ~std::uint64_t{0});
  EXPECT_EQ(record.arg("cluster_x"), ~std::uint64_t{0});
}

TEST_F(ActivityWriterTest, WithoutAnyTimeItIsTheEndOfTheCall) {
  writer_.activity(call(2'000'000, 2'000'500));
  writer_.activity(kernel(0, 0));
  const auto record = events()[1];
  EXPECT_EQ(record.text("clock_suspect"), "zero");
  EXPECT_EQ(record.header().begin, 6'000'500u);
  EXPECT_EQ(record.header().end, 6'000'500u);
  EXPECT_EQ(writer_.counts().suspects[static_cast<unsigned>(Suspect::kZero)], 1u);
}

TEST_F(ActivityWriterTest, WithoutAnyTimeOrCallItIsTheDelivery) {
  writer_.activity(kernel(0, 0));
  EXPECT_EQ(event().header().begin, 12'000'000u);
}

TEST_F(ActivityWriterTest, EndZeroOrReversedHasNoDuration) {
  writer_.activity(kernel(2'000'000, 0));
  writer_.activity(kernel(2'000'000, 1'900'000));
  const auto all = events();
  EXPECT_EQ(all[0].text("clock_suspect"), "zero_end");
  EXPECT_EQ(all[1].text("clock_suspect"), "reversed");
  for (const auto& record : all) {
    EXPECT_EQ(record.header().begin, 6'000'000u);
    EXPECT_EQ(record.header().end, 6'000'000u);
    EXPECT_EQ(record.arg("dur_ns"), 0u);
  }
}

TEST_F(ActivityWriterTest, FutureAndEarlierThanTheCallAreFlagged) {
  writer_.activity(kernel(7'000'000, 9'500'000));  // a millisecond behind its delivery
  writer_.activity(call(3'000'000, 3'000'500));
  writer_.activity(kernel(2'999'000, 3'100'000));
  writer_.activity(kernel(3'000'000, 3'100'000));
  const auto all = events();
  EXPECT_EQ(all[0].text("clock_suspect"), "future");
  EXPECT_EQ(all[2].text("clock_suspect"), "before_api");
  EXPECT_EQ(all[3].text("clock_suspect"), "(absent)");
}

TEST_F(ActivityWriterTest, SyncGetsTheDeviceOfItsContext) {
  writer_.context({5, 3, 7});
  Activity sync;
  sync.kind = ActivityKind::kSync;
  sync.begin = sync.end = 2'000'000;
  sync.context = 5;
  sync.sync = {kNoId, 0};
  writer_.activity(sync);
  const auto record = event();
  EXPECT_EQ(record.arg("device_id"), 3u);
  EXPECT_EQ(record.arg("cuda_event_id"), ~std::uint64_t{0});
}

TEST_F(ActivityWriterTest, DevicesTellTheirPlaceOnTheBusWhereItIsKnown) {
  DeviceFacts facts;
  writer_.device(facts);
  std::snprintf(facts.pci_address, sizeof facts.pci_address, "0000:1b:00.0");
  writer_.device(facts);
  drained_.end();
  ASSERT_EQ(drained_.records.size(), 2u);
  EXPECT_EQ(drained_.records[0].text("pci_address"), "(absent)");
  EXPECT_EQ(drained_.records[1].text("pci_address"), "0000:1b:00.0");
}

TEST_F(ActivityWriterTest, LossesAreRecordsAndSums) {
  writer_.loss(LossCause::kUndecodable, 3, 144, "kind 200");
  writer_.loss(LossCause::kUndecodable, 2, 96, "kind 201");
  EXPECT_EQ(writer_.counts().losses[static_cast<unsigned>(LossCause::kUndecodable)], 5u);
  drained_.end();
  ASSERT_EQ(drained_.records.size(), 2u);
  EXPECT_EQ(drained_.records[0].text("cause"), "gpu_undecodable");
  EXPECT_EQ(drained_.records[0].arg("count"), 3u);
  EXPECT_EQ(drained_.records[0].text("detail"), "kind 200");
}

}  // namespace
}  // namespace dft::gpu
