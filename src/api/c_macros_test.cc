// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cerrno>
#include <limits>

#include "api/fake_recorder.h"
#include "dftracer/dftracer.h"

namespace dft {
namespace {

class CMacros : public ::testing::Test {
 protected:
  void SetUp() override { fake::reset(); }
};

void early_return(bool leave) {
  DFTRACER_C_FUNCTION_START();
  if (leave) return;
  DFTRACER_C_REGION_START(inner);
  DFTRACER_C_REGION_END(inner);
  DFTRACER_C_FUNCTION_END();
}

TEST_F(CMacros, FunctionRegionHasTheFunctionsNameAndLayer) {
  early_return(false);
  ASSERT_EQ(fake::state.records.size(), 2u);
  EXPECT_EQ(fake::state.records[0].name, "inner");
  EXPECT_EQ(fake::state.records[1].name, "early_return");
  EXPECT_EQ(fake::state.records[1].cat, "C_APP");
  EXPECT_EQ(fake::state.records[1].layer, model::Layer::kCApp);
}

TEST_F(CMacros, EarlyReturnEndsTheRegion) {
  early_return(true);
  ASSERT_EQ(fake::named("early_return").size(), 1u);
}

TEST_F(CMacros, RegionEndsOnceAlthoughEndAndScopeBothEndIt) {
  {
    DFTRACER_C_REGION_START(once);
    DFTRACER_C_REGION_END(once);
    DFTRACER_C_REGION_END(once);
  }
  EXPECT_EQ(fake::named("once").size(), 1u);
}

TEST_F(CMacros, EveryTypeOfArgIsExact) {
  {
    DFTRACER_C_REGION_START(args);
    DFTRACER_C_REGION_UPDATE_INT(args, "int", std::numeric_limits<std::int64_t>::min());
    DFTRACER_C_REGION_UPDATE_INT64(args, "int64", std::numeric_limits<std::int64_t>::max());
    DFTRACER_C_REGION_UPDATE_UINT64(args, "uint64", std::numeric_limits<std::uint64_t>::max());
    DFTRACER_C_REGION_UPDATE_DOUBLE(args, "double", 0.1);
    DFTRACER_C_REGION_UPDATE_BOOL(args, "bool", 256);
    DFTRACER_C_REGION_UPDATE_STR(args, "str", "text");
    DFTRACER_C_REGION_UPDATE_INT_TYPE(args, "typed", 7, MT_VALUE);
    DFTRACER_C_REGION_UPDATE_STR_TYPE(args, "typed_str", "v", MT_IGNORE);
    DFTRACER_C_REGION_UPDATE_INT(args, "twice", 1);
    DFTRACER_C_REGION_UPDATE_INT(args, "twice", 2);
  }
  const fake::Record r = fake::named("args").at(0);
  EXPECT_EQ(r.arg("int"), "-9223372036854775808");
  EXPECT_EQ(r.arg("int64"), "9223372036854775807");
  EXPECT_EQ(r.arg("uint64"), "18446744073709551615");
  EXPECT_EQ(r.arg("double"), "0.10000000000000001");
  EXPECT_EQ(r.arg("bool"), "true");
  EXPECT_EQ(r.arg("str"), "\"text\"");
  EXPECT_EQ(r.arg("typed"), "7");
  EXPECT_EQ(r.arg("typed_str"), "\"v\"");
  EXPECT_EQ(r.arg("twice"), "2");
  EXPECT_EQ(r.args.size(), 9u);
}

TEST_F(CMacros, FunctionArgsGoToTheFunctionsRegion) {
  [] {
    DFTRACER_C_FUNCTION_START();
    DFTRACER_C_REGION_START(other);
    DFTRACER_C_FUNCTION_UPDATE_INT("int", 1);
    DFTRACER_C_FUNCTION_UPDATE_INT64("int64", 2);
    DFTRACER_C_FUNCTION_UPDATE_UINT64("uint64", 3);
    DFTRACER_C_FUNCTION_UPDATE_DOUBLE("double", 4.5);
    DFTRACER_C_FUNCTION_UPDATE_BOOL("bool", 0);
    DFTRACER_C_FUNCTION_UPDATE_STR("str", "s");
    DFTRACER_C_FUNCTION_UPDATE_INT_TYPE("it", 6, 99);
    DFTRACER_C_FUNCTION_UPDATE_STR_TYPE("st", "t", MT_KEY);
  }();
  EXPECT_TRUE(fake::named("other").at(0).args.empty());
  EXPECT_EQ(fake::named("operator()").at(0).args.size(), 8u);
  EXPECT_EQ(fake::named("operator()").at(0).arg("bool"), "false");
}

TEST_F(CMacros, StatementsStandUnderIfWithoutBraces) {
  const bool no = fake::state.records.size() == 99;
  DFTRACER_C_REGION_START(guarded);
  if (no)
    DFTRACER_C_INIT(nullptr, nullptr, nullptr);
  else
    DFTRACER_C_REGION_UPDATE_INT(guarded, "taken", 1);
  if (no) DFTRACER_C_INSTANT(never);
  if (no) DFTRACER_C_METADATA(m, "never", "never");
  if (no) DFTRACER_C_APP_METADATA_INT("never", 1);
  if (no) DFTRACER_C_MARK_USED("never");
  if (no) DFTRACER_C_ENTITY_TYPE("never", DFT_ROLE_INPUT, "");
  if (no) DFTRACER_C_FINI();
  if (no) DFTRACER_C_REGION_END(guarded);
  EXPECT_TRUE(fake::state.calls.empty());
  EXPECT_TRUE(fake::state.records.empty());
  DFTRACER_C_REGION_END(guarded);
  EXPECT_EQ(fake::named("guarded").at(0).arg("taken"), "1");
}

TEST_F(CMacros, InstantTakesATokenOrALiteral) {
  DFTRACER_C_INSTANT(checkpoint);
  DFTRACER_C_INSTANT("check \"point\" 2");
  ASSERT_EQ(fake::state.records.size(), 2u);
  EXPECT_EQ(fake::state.records[0].name, "checkpoint");
  EXPECT_TRUE(fake::state.records[0].instant);
  EXPECT_EQ(fake::state.records[1].name, "check \"point\" 2");
}

TEST_F(CMacros, MetadataIsARecordOfItsOwn) {
  DFTRACER_C_METADATA(meta, "key", "value");
  const fake::Record r = fake::state.records.at(0);
  EXPECT_EQ(r.kind, model::RecordKind::kMetadata);
  EXPECT_EQ(r.name, "CM");
  EXPECT_EQ(r.cat, "dftracer");
  EXPECT_EQ(r.layer, model::Layer::kCApp);
  EXPECT_EQ(r.arg("name"), "\"key\"");
  EXPECT_EQ(r.arg("value"), "\"value\"");
}

TEST_F(CMacros, ACallSiteIsLookedUpOnce) {
  for (int i = 0; i < 10; ++i) {
    DFTRACER_C_REGION_START(loop);
    DFTRACER_C_INSTANT("tick");
  }
  EXPECT_EQ(fake::state.site_lookups, 2u);
}

TEST_F(CMacros, OffMeansNoCallAndNoRecord) {
  dftracer_on = 0;
  early_return(false);
  DFTRACER_C_INSTANT(nothing);
  DFTRACER_C_METADATA(m, "k", "v");
  DFTRACER_C_ENTITY_TYPE("t", DFT_ROLE_INPUT, "d");
  DFTRACER_C_ENTITY_RELATE(DFT_REL_PART_OF, 1, 2);
  EXPECT_EQ(DFTRACER_C_ENTITY("t", "k", DFT_STORE_MEMORY, nullptr), 0u);
  EXPECT_EQ(initialize_region("n", "c", 0), nullptr);
  EXPECT_TRUE(fake::state.records.empty());
  EXPECT_EQ(fake::state.site_lookups, 0u);
}

TEST_F(CMacros, NullIsAllowedEverywhere) {
  finalize_region(nullptr);
  finalize_region_cleanup(nullptr);
  DFTracerData* none = nullptr;
  finalize_region_cleanup(&none);
  update_metadata_int(nullptr, "k", 1);
  update_metadata_string(nullptr, "k", "v");
  update_relation(nullptr, DFT_REL_USED, 1);
  DFTracerData* region = initialize_region(nullptr, nullptr, DF_DATA_EVENT);
  update_metadata_int(region, nullptr, 1);
  update_metadata_string(region, "k", nullptr);
  update_metadata_string_type(region, nullptr, nullptr, 0);
  dftracer_region_update_strn(region, "empty", nullptr, 0);
  dftracer_region_update_strn(region, "bad", nullptr, 3);
  finalize_region(region);
  dftracer_metadata(2, nullptr, "v");
  const fake::Record r = fake::state.records.at(0);
  EXPECT_EQ(r.name, "");
  EXPECT_EQ(r.cat, "C_APP");
  ASSERT_EQ(r.args.size(), 1u);
  EXPECT_EQ(r.arg("empty"), "\"\"");
}

TEST_F(CMacros, UnknownPointersAreIgnored) {
  int anything = 0;
  auto* stray = reinterpret_cast<DFTracerData*>(&anything);
  update_metadata_int(stray, "k", 1);
  finalize_region(stray);
  dftracer_region_end_exception(stray);
  EXPECT_TRUE(fake::state.records.empty());
}

TEST_F(CMacros, OldNamesAreTheNewFunctions) {
  DFTracerData* region = initialize_region("dynamic", "CAT", DF_METADATA_EVENT);
  update_metadata_int_type(region, "i", -5, MT_VALUE);
  finalize_region_cleanup(&region);
  EXPECT_EQ(region, nullptr);
  const fake::Record r = fake::state.records.at(0);
  EXPECT_EQ(r.name, "dynamic");
  EXPECT_EQ(r.cat, "CAT");
  EXPECT_TRUE(r.metadata_event);
  EXPECT_EQ(r.arg("i"), "-5");
}

}  // namespace
}  // namespace dft
