// SPDX-License-Identifier: MIT
#include "sources/gpu/named_writer.h"

#include <gtest/gtest.h>

#include "record/drained_records_for_test.h"
#include "sources/gpu/activity_writer.h"
#include "sources/gpu/fake_backend.h"

namespace dft::gpu {
namespace {

constexpr NamedField kFields[] = {{"correlation_id", false}, {"offset", true}, {"bytes", false}};

class NamingBackend final : public FakeBackend {
 public:
  model::Layer layer() const override { return model::Layer::kHip; }
  std::string_view category(ActivityKind) const override { return "KERNEL_DISPATCH"; }
  std::string_view named_category(unsigned kind) const override { return kind == 3 ? "KERNEL_DISPATCH" : "CALLS"; }
  std::string_view named_operation(unsigned, unsigned operation) override {
    return operation == 1 ? std::string_view("hipMalloc") : std::string_view();
  }
  NamedFields named_fields() const override { return {kFields, 3}; }
  std::string_view hidden_suffix() const override { return ".kd"; }
};

class NamedWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    drained_.begin({});
    clock_.add({1'000'000, 5'000'000, 1'000'000, 10});
    clock_.add({9'000'000, 13'000'000, 9'000'000, 10});
    writer_.configure({}, backend_, clock_);
    writer_.arrived_at(8'000'000);
  }
  static NamedActivity call(std::uint64_t begin, std::uint64_t end, std::uint64_t id) {
    NamedActivity out;
    out.operation = 1;
    out.is_call = true;
    out.tid = 77;
    out.begin = begin;
    out.end = end;
    out.correlation = id;
    out.add(0, id);
    return out;
  }
  static NamedActivity kernel(std::uint64_t begin, std::uint64_t end, std::uint64_t id) {
    NamedActivity out;
    out.kind = 3;
    out.is_work = out.is_kernel = true;
    out.symbol = "_Z4workv.kd";
    out.lane = LaneKind::kQueue;
    out.device = 0;
    out.stream = 2;
    out.begin = begin;
    out.end = end;
    out.correlation = id;
    out.add(0, id);
    out.add(1, static_cast<std::uint64_t>(-5));
    return out;
  }
  std::vector<record::CopiedRecord> events() {
    drained_.end();
    std::vector<record::CopiedRecord> all;
    for (record::CopiedRecord& record : drained_.records) {
      if (record.header().kind == model::RecordKind::kEvent) all.push_back(record);
    }
    return all;
  }
  static model::SiteDef site_of(const record::CopiedRecord& record) {
    model::SiteDef site{};
    EXPECT_TRUE(record::recorder.definitions.site(record.header().site, site));
    return site;
  }
  NamingBackend backend_;
  GpuClock clock_;
  ActivityWriter writer_;
  record::DrainedRecords drained_;
};

TEST_F(NamedWriterTest, ACallStandsOnItsThreadUnderTheNamesOfTheBackend) {
  writer_.named(call(2'000'000, 2'000'700, 9));
  const auto all = events();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(site_of(all[0]).name, "hipMalloc");
  EXPECT_EQ(site_of(all[0]).cat, "CALLS");
  EXPECT_EQ(all[0].header().lane, 77u);
  EXPECT_EQ(all[0].header().begin, 6'000'000u);
  EXPECT_EQ(all[0].arg("correlation_id"), 9u);
  EXPECT_EQ(all[0].arg("dur_ns"), 700u);
  EXPECT_EQ(all[0].text("clock_suspect"), "(absent)");
  EXPECT_EQ(writer_.counts().named[0], 1u);
  EXPECT_EQ(writer_.counts().named_work, 0u);
}

TEST_F(NamedWriterTest, AKernelStandsOnItsLaneWithoutTheSuffix) {
  writer_.named(kernel(2'000'000, 2'000'100, 9));
  const auto all = events();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(site_of(all[0]).name, "work()");
  EXPECT_EQ(site_of(all[0]).cat, "KERNEL_DISPATCH");
  EXPECT_GE(all[0].header().lane, Lanes::kFirst);
  EXPECT_EQ(static_cast<std::int64_t>(all[0].arg("offset")), -5);
  model::ArgView view{};
  EXPECT_TRUE(all[0].find("offset", view) && view.type == model::ArgType::kInt64);
  EXPECT_TRUE(all[0].find("correlation_id", view) && view.type == model::ArgType::kUint64);
  EXPECT_EQ(all[0].arg("bytes"), ~std::uint64_t{0});
  model::StringDef symbol{};
  const auto id = static_cast<model::StringId>(all[0].arg("symbol_hash"));
  ASSERT_TRUE(record::recorder.definitions.string(id, symbol));
  EXPECT_EQ(symbol.bytes, "_Z4workv.kd");
  EXPECT_EQ(writer_.counts().named_work, 1u);
}

TEST_F(NamedWriterTest, UnknownOperationsAndSymbolsHaveAName) {
  NamedActivity out = call(2'000'000, 2'000'700, 9);
  out.operation = 12;
  writer_.named(out);
  NamedActivity nameless = kernel(2'000'000, 2'000'100, 9);
  nameless.symbol = nullptr;
  writer_.named(nameless);
  const auto all = events();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(site_of(all[0]).name, "operation_12");
  EXPECT_EQ(site_of(all[1]).name, "kernel");
  EXPECT_EQ(all[1].arg("symbol_hash"), ~std::uint64_t{0});
}

TEST_F(NamedWriterTest, SuspectTimesAreFlaggedAndCounted) {
  writer_.named(call(3'000'000, 3'000'500, 9));
  writer_.named(kernel(0, 0, 9));
  writer_.named(kernel(3'000'100, 0, 9));
  writer_.named(kernel(3'000'200, 3'000'100, 9));
  writer_.named(kernel(2'000'000, 3'000'100, 9));
  writer_.named(kernel(3'000'100, 30'000'000, 9));
  const auto all = events();
  ASSERT_EQ(all.size(), 6u);
  const char* expected[] = {"(absent)", "zero", "zero_end", "reversed", "before_api", "future"};
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].text("clock_suspect"), expected[i]);
  EXPECT_EQ(all[1].header().begin, 7'000'500u);  // when its call ended
  EXPECT_EQ(all[3].header().begin, all[3].header().end);
  for (unsigned i = 1; i < kSuspects; ++i) EXPECT_EQ(writer_.counts().suspects[i], 1u);
}

TEST_F(NamedWriterTest, WhatHasOneTimeHasNoDuration) {
  NamedActivity out = kernel(3'000'000, 0, 9);
  out.is_instant = true;
  writer_.named(out);
  const auto all = events();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].arg("dur_ns"), ~std::uint64_t{0});
  EXPECT_EQ(all[0].text("clock_suspect"), "(absent)");
  EXPECT_EQ(all[0].header().begin, all[0].header().end);
}

TEST_F(NamedWriterTest, AsManyValuesAsThereCanBe) {
  NamedActivity out = call(2'000'000, 2'000'700, 9);
  out.add(1, 2);
  out.add(2, 3);
  writer_.named(out);
  const auto all = events();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].arg("offset"), 2u);
  EXPECT_EQ(all[0].arg("bytes"), 3u);
}

}  // namespace
}  // namespace dft::gpu
