// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <type_traits>

#include "api/fake_recorder.h"
#include "dftracer/dftracer.hpp"

namespace dft {
namespace {

static_assert(!std::is_copy_constructible<DFTracer>::value, "a region has one owner");
static_assert(!std::is_copy_assignable<DFTracer>::value, "a region has one owner");
static_assert(sizeof(DFTracer) <= 16, "a region is a pointer and a count");

class CppMacros : public ::testing::Test {
 protected:
  void SetUp() override { fake::reset(); }
};

int traced_function(int n) {
  DFTRACER_CPP_FUNCTION();
  DFTRACER_CPP_FUNCTION_UPDATE("n", n);
  DFTRACER_CPP_FUNCTION_UPDATE_TYPE("typed", 2L, MT_VALUE);
  if (n == 0) return 0;
  DFTRACER_CPP_REGION(part);
  DFTRACER_CPP_REGION_UPDATE(part, "half", n / 2.0);
  DFTRACER_CPP_REGION_UPDATE_TYPE(part, "name", "x", MT_IGNORE);
  return n;
}

TEST_F(CppMacros, RegionsEndInnermostFirst) {
  EXPECT_EQ(traced_function(3), 3);
  ASSERT_EQ(fake::state.records.size(), 2u);
  const fake::Record part = fake::state.records[0];
  const fake::Record function = fake::state.records[1];
  EXPECT_EQ(part.name, "part");
  EXPECT_EQ(part.arg("half"), "1.5");
  EXPECT_EQ(part.arg("name"), "\"x\"");
  EXPECT_EQ(function.name, "traced_function");
  EXPECT_EQ(function.cat, "CPP_APP");
  EXPECT_EQ(function.layer, model::Layer::kCppApp);
  EXPECT_EQ(function.arg("n"), "3");
  EXPECT_EQ(function.arg("typed"), "2");
}

TEST_F(CppMacros, StartAndEndMayInterleave) {
  {
    DFTRACER_CPP_REGION_START(first);
    DFTRACER_CPP_REGION_START(second);
    DFTRACER_CPP_REGION_DYN_UPDATE(first, "a", 1);
    DFTRACER_CPP_REGION_END(first);
    DFTRACER_CPP_REGION_DYN_UPDATE_TYPE(second, "b", true, MT_KEY);
    DFTRACER_CPP_REGION_END(second);
    DFTRACER_CPP_REGION_DYN_UPDATE(second, "late", 1);
  }
  ASSERT_EQ(fake::state.records.size(), 2u);
  EXPECT_EQ(fake::state.records[0].name, "first");
  EXPECT_EQ(fake::state.records[1].arg("b"), "true");
  EXPECT_EQ(fake::state.records[1].arg("late"), "");
}

TEST_F(CppMacros, StartWithoutEndEndsWithTheScope) {
  {
    DFTRACER_CPP_REGION_START(forgotten);
    EXPECT_TRUE(fake::state.records.empty());
  }
  EXPECT_EQ(fake::named("forgotten").size(), 1u);
}

enum Plain { kFive = 5 };

TEST_F(CppMacros, EveryTypeOfArgIsExact) {
  {
    DFTracer region("r", "c");
    region.update("short", static_cast<short>(-3));
    region.update("uchar", static_cast<unsigned char>(200));
    region.update("unsigned", std::numeric_limits<unsigned>::max());
    region.update("long", std::numeric_limits<long>::min());
    region.update("ulong", std::numeric_limits<unsigned long>::max());
    region.update("llong", std::numeric_limits<long long>::max());
    region.update("ullong", std::numeric_limits<unsigned long long>::max());
    region.update("size", std::size_t{1} << 40);
    region.update("enum", kFive);
    region.update("float", 0.5f);
    region.update("double", 1e300);
    region.update("ldouble", 2.5L);
    region.update("bool", false);
    region.update("string", std::string("a\0b", 3));
    region.update("view", std::string_view("viewed").substr(0, 4));
    region.update("null", static_cast<const char*>(nullptr));
    char text[] = "array";
    region.update("array", text);
  }
  const fake::Record r = fake::named("r").at(0);
  EXPECT_EQ(r.arg("short"), "-3");
  EXPECT_EQ(r.arg("uchar"), "200");
  EXPECT_EQ(r.arg("unsigned"), "4294967295");
  EXPECT_EQ(r.arg("long"), "-9223372036854775808");
  EXPECT_EQ(r.arg("ulong"), "18446744073709551615");
  EXPECT_EQ(r.arg("llong"), "9223372036854775807");
  EXPECT_EQ(r.arg("ullong"), "18446744073709551615");
  EXPECT_EQ(r.arg("size"), "1099511627776");
  EXPECT_EQ(r.arg("enum"), "5");
  EXPECT_EQ(r.arg("float"), "0.5");
  EXPECT_EQ(r.arg("double"), "1.0000000000000001e+300");
  EXPECT_EQ(r.arg("ldouble"), "2.5");
  EXPECT_EQ(r.arg("bool"), "false");
  EXPECT_EQ(r.arg("string"), std::string("\"a\0b\"", 5));
  EXPECT_EQ(r.arg("view"), "\"view\"");
  EXPECT_EQ(r.arg("array"), "\"array\"");
  EXPECT_EQ(r.args.size(), 16u);
}

TEST_F(CppMacros, NamesMayDieBeforeTheRegion) {
  std::string name = "temporary";
  std::string cat = "category";
  DFTracer region(name, cat, DF_DATA_EVENT, 6);
  name.assign(name.size(), '#');
  cat.assign(cat.size(), '#');
  region.finalize();
  const fake::Record r = fake::state.records.at(0);
  EXPECT_EQ(r.name, "temporary");
  EXPECT_EQ(r.cat, "category");
  EXPECT_EQ(r.layer, model::Layer::kPython);
}

TEST_F(CppMacros, FinalizeEndsTheRegionOnce) {
  {
    DFTracer region("r", "c");
    region.finalize();
    region.finalize();
    region.update("late", 1);
  }
  EXPECT_EQ(fake::named("r").size(), 1u);
  EXPECT_TRUE(fake::named("r").at(0).args.empty());
}

TEST_F(CppMacros, RegionMayOutliveTracing) {
  DFTracer region("r", "c");
  DFTRACER_CPP_FINI();
  fake::reset();  // the real one writes open regions and forgets them
  region.update("late", 1);
  region.finalize();
  EXPECT_TRUE(fake::state.records.empty());
}

TEST_F(CppMacros, InstantAndMetadata) {
  if (fake::state.enabled) DFTRACER_CPP_INSTANT(now);
  DFTRACER_CPP_METADATA(m, "key", "value");
  EXPECT_TRUE(fake::named("now").at(0).instant);
  EXPECT_EQ(fake::named("now").at(0).layer, model::Layer::kCppApp);
  EXPECT_EQ(fake::named("CM").at(0).layer, model::Layer::kCppApp);
}

TEST_F(CppMacros, OffMeansNoCallAndNoRecord) {
  dftracer_on = 0;
  EXPECT_EQ(traced_function(2), 2);
  DFTracer region("n", "c");
  EXPECT_EQ(region.uses("t", "k"), 0u);
  region.finalize();
  DFTRACER_CPP_INSTANT(nothing);
  EXPECT_TRUE(fake::state.records.empty());
  EXPECT_EQ(fake::state.site_lookups, 0u);
}

}  // namespace
}  // namespace dft
