// SPDX-License-Identifier: MIT
// What bindings of other languages use: names and strings with lengths, the trace's clock, other ends of a region.
#include <gtest/gtest.h>

#include <cerrno>

#include "api/fake_recorder.h"
#include "dftracer/dftracer.h"

namespace dft {
namespace {

class Binding : public ::testing::Test {
 protected:
  void SetUp() override { fake::reset(); }
  static DFTracerData* open(std::string_view name) {
    dftracer_site site = {nullptr, nullptr, 0,
                          dftracer_site_id(name.data(), name.size(), "c", 1, DFTRACER_TYPE_PYTHON)};
    return dftracer_region_start(&site);
  }
};

TEST_F(Binding, NamesAndStringsMayHoldAnyByte) {
  const std::string name("a\0b", 3);
  const std::string key("long key \0 more", 15);
  DFTracerData* region = open(name);
  dftracer_region_update_bits(region, key.data(), key.size(), 1, static_cast<uint64_t>(-5));
  dftracer_region_update_bytes(region, "s", 1, "x\0y", 3);
  dftracer_finalize_region(region);
  ASSERT_EQ(fake::named(name).size(), 1u);
  const fake::Record record = fake::named(name)[0];
  EXPECT_EQ(record.layer, model::Layer::kPython);
  EXPECT_EQ(record.arg(key), "-5");
  EXPECT_EQ(record.arg("s"), std::string("\"x\0y\"", 5));
}

TEST_F(Binding, EachKindOfValueKeepsItsBits) {
  DFTracerData* region = open("r");
  dftracer_region_update_bits(region, "u", 1, 2, UINT64_MAX);
  dftracer_region_update_bits(region, "d", 1, 3, 0x3ff8000000000000);
  dftracer_region_update_bits(region, "b", 1, 4, 7);
  dftracer_region_update_bits(region, "none", 4, 5, 7);
  dftracer_region_update_bits(region, nullptr, 4, 1, 7);
  const std::string endless(65536, 'k');
  dftracer_region_update_bits(region, endless.data(), endless.size(), 1, 7);
  dftracer_finalize_region(region);
  const fake::Record record = fake::named("r")[0];
  EXPECT_EQ(record.args.size(), 3u);
  EXPECT_EQ(record.arg("u"), "18446744073709551615");
  EXPECT_EQ(record.arg("d"), "1.5");
  EXPECT_EQ(record.arg("b"), "true");
}

TEST_F(Binding, ARegionCanEndAtOtherTimesAsAnInstantOrAsNothing) {
  dftracer_region_end_at(open("at"), 1000, 5);
  dftracer_region_end_at(open("late"), UINT64_MAX, UINT64_MAX);
  dftracer_region_end_instant(open("moment"));
  dftracer_region_drop(open("nothing"));
  EXPECT_EQ(fake::named("at")[0].arg("at"), "1000000..1005000");
  EXPECT_EQ(fake::named("late")[0].arg("at"), "18446744073709551615..18446744073709551615");
  EXPECT_TRUE(fake::named("moment")[0].instant);
  EXPECT_TRUE(fake::named("nothing").empty());
}

TEST_F(Binding, TheClockAndTheConfigurationCanBeAskedAndKeepErrno) {
  errno = ENOTTY;
  EXPECT_EQ(dftracer_get_time(), 1'700'000'000'000'000u);
  char text[2];
  EXPECT_EQ(dftracer_get_config("DFTRACER_TIME_METRIC", text, sizeof text), 2u);
  EXPECT_STREQ(text, "U");
  EXPECT_EQ(dftracer_get_config("DFTRACER_NO", text, sizeof text), 0u);
  EXPECT_STREQ(text, "");
  EXPECT_EQ(dftracer_get_config("DFTRACER_TIME_METRIC", nullptr, 0), 2u);
  EXPECT_EQ(dftracer_get_config(nullptr, text, sizeof text), 0u);
  EXPECT_EQ(errno, ENOTTY);
}

TEST_F(Binding, AWorkerSaysThatItIsOne) {
  dftracer_note_worker();
  EXPECT_EQ(fake::state.calls, std::vector<std::string>{"worker"});
}

TEST_F(Binding, AnotherProfilerIsAnnouncedAndErrnoKept) {
  errno = ENOTTY;
  EXPECT_EQ(dftracer_gpu_profiler_begins("mine"), 0);
  EXPECT_EQ(dftracer_gpu_profiler_begins(nullptr), 0);
  dftracer_gpu_profiler_ends();
  EXPECT_EQ(fake::state.calls, (std::vector<std::string>{"profiler mine", "profiler (null)", "profiler ends"}));
  char path[4];
  EXPECT_EQ(dftracer_nvtx_library(path, sizeof path), 2u);
  EXPECT_STREQ(path, "/l");
  EXPECT_EQ(dftracer_nvtx_library(path, 0), 2u);
  EXPECT_EQ(dftracer_nvtx_library(nullptr, 4), 2u);
  EXPECT_EQ(errno, ENOTTY);
}

TEST_F(Binding, AnEntityHasItsIdWithoutBeingDeclared) {
  EXPECT_EQ(dftracer_entity_id("dataset", "k"), dftracer_declare_entity("dataset", "k", DFT_STORE_MEMORY, nullptr));
  dftracer_on = 0;
  EXPECT_NE(dftracer_entity_id("dataset", "k"), 0u);
  EXPECT_EQ(dftracer_entity_id(nullptr, "k"), 0u);
}

}  // namespace
}  // namespace dft
