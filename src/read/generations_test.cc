// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "read/hash_table.h"
#include "read/traces_for_test.h"

namespace dft::read::test {
namespace {

using model::Phase;

Collected read_text(const std::string& text, bool strict = false) {
  const TempDir dir;
  return read_files({dir.write("t.pfw", text)}, strict);
}

TEST(Generations, G1aQuotedNumbersAndCorrectedThreadIds) {
  const auto got = read_text(
      "[\n"
      R"({"id":"0","name":"open","cat":"POSIX","pid":"100","tid":"203","ts":"1700000000000001","dur":"12","ph":"X","args":{"hostname":"n1","fname":"/a","ret":3,"size":"4096"}})"
      "\n]");
  ASSERT_EQ(got.events.size(), 1u);
  EXPECT_TRUE(got.problems.empty());
  EXPECT_EQ(got.events[0].pid, 100);
  EXPECT_EQ(got.events[0].tid, 103);
  EXPECT_EQ(got.events[0].ts, 1700000000000001u);
  EXPECT_EQ(got.events[0].dur, 12u);
  EXPECT_EQ(got.events[0].type, 3);
  EXPECT_EQ(got.events[0].phase, Phase::kComplete);
  EXPECT_EQ(got.files[0].generation, Generation::kG1a);
}

TEST(Generations, G1bMetadataWithoutCategory) {
  const auto got = read_text(
      R"(  {"id":0,"name":"thread_name","pid":100,"tid":201,"ph":"M","args":{"name":"x"}})"
      "\n"
      R"({"id":1,"name":"read","cat":"POSIX","pid":100,"tid":201,"ts":5,"dur":1,"ph":"X","args":{"hostname":"n1","fname":"/a"}})"
      "\n");
  ASSERT_EQ(got.events.size(), 2u);
  EXPECT_EQ(got.events[0].phase, Phase::kMetadata);
  EXPECT_EQ(got.events[0].tid, 101);
  EXPECT_EQ(got.events[1].tid, 101);
  EXPECT_EQ(got.files[0].generation, Generation::kG1b);
}

TEST(Generations, G1dHashesAsNumbers) {
  const TempDir dir;
  const std::string path = dir.write(
      "t.pfw",
      R"([{"id":0,"name":"FH","cat":"dftracer","pid":1,"tid":1,"ph":"M","args":{"hhash":3202111464442352004,"name":"corona211","value":3202111464442352004}},)"
      "\n"
      R"({"id":1,"name":"read","cat":"POSIX","pid":1,"tid":1,"ts":5,"dur":1,"ph":"X","args":{"hhash":9,"fhash":3202111464442352004,"level":1,"p_idx":0}},)"
      "\n]\n");
  const auto got = read_files({path});
  ASSERT_EQ(got.events.size(), 2u);
  EXPECT_EQ(got.files[0].generation, Generation::kG1d);
  EXPECT_EQ(got.events[1].fhash, "3202111464442352004");

  struct Names : Consumer {
    HashTable table;
    bool block(const Block& block) override {
      for (const Event& event : block.events) table.add(event);
      return true;
    }
  } names;
  ScanOptions options;
  options.parse.hash_records_only = true;
  scan({path}, options, names);
  ASSERT_NE(names.table.find('F', "3202111464442352004"), nullptr);
  EXPECT_EQ(*names.table.find('F', "3202111464442352004"), "corona211");
  EXPECT_EQ(names.table.find('H', "3202111464442352004"), nullptr);
}

TEST(Generations, G2LettersCountersAndAggregates) {
  const auto got = read_text(
      "[\n"
      R"({"name":"HH","cat":"dftracer","pid":1,"tid":1,"ph":"M","args":{"hhash":"2a702c695247d487","name":"corona211","value":"2a702c695247d487"}},)"
      "\n"
      R"({"name":"cpu","cat":"sys","pid":0,"tid":0,"ts":5,"ph":"C","args":{"user_pct":1.5}},)"
      "\n"
      R"({"name":"read","cat":"POSIX","pid":1,"tid":1,"ts":5,"ph":"C","args":{"dft_cnt":3,"dur_sum":7}},)"
      "\n"
      R"({"id":1,"name":"train","cat":"mine","pid":1,"tid":1,"ts":5,"dur":2,"ph":"X"},)"
      "\n]");
  ASSERT_EQ(got.events.size(), 4u);
  EXPECT_TRUE(got.problems.empty());
  EXPECT_EQ(got.files[0].generation, Generation::kG2);
  EXPECT_EQ(got.events[1].phase, Phase::kCounter);
  EXPECT_EQ(got.events[1].type, 7);
  EXPECT_EQ(got.events[2].phase, Phase::kAggregated);
  EXPECT_EQ(got.events[2].type, 3);
  EXPECT_EQ(got.events[3].type, 6);
}

TEST(Generations, G3KeepsUnknownNumbersAndKeys) {
  const auto got = read_text(
      R"({"new":[1],"id":1099511627776,"name":"a\"b\n","cat":"c","type":99,"pid":1,"tid":1,"ts":5,"dur":2,"ph":1,"args":{"hhash":"00","x":1.25}})"
      "\n"
      R"({"name":"x","cat":"c","type":1,"pid":1,"tid":1,"ph":9})"
      "\n");
  ASSERT_EQ(got.events.size(), 2u);
  EXPECT_TRUE(got.problems.empty());
  EXPECT_EQ(got.events[0].name, "a\"b\n");
  EXPECT_EQ(got.events[0].id, 1099511627776u);
  EXPECT_EQ(got.events[0].type, 99);
  EXPECT_EQ(got.events[0].args, R"({"hhash":"00","x":1.25})");
  EXPECT_EQ(got.events[1].phase, Phase::kUnknown);
}

TEST(Generations, CoreAffinityRecordsHaveTheirThreadIdCorrected) {
  const auto got = read_text(
      R"({"name":"PR","cat":"dftracer","type":1,"pid":100,"tid":201,"ph":4,"args":{"hhash":"aa","name":"core_affinity","value":"[0,1]"}})"
      "\n");
  ASSERT_EQ(got.events.size(), 1u);
  EXPECT_EQ(got.events[0].tid, 101);
}

TEST(Generations, TimeMetricOfTheFileIsTold) {
  const auto got = read_text(
      R"({"name":"CM","cat":"dftracer","type":1,"pid":1,"tid":1,"ph":4,"args":{"hhash":"aa","name":"time_metric","value":"NS"}})"
      "\n");
  EXPECT_EQ(got.files[0].unit_ns, 1u);
}

// Real traces of release 2.2 of the original.
struct Real {
  const char* file;
  std::size_t events;
  std::size_t problems;
};
class RealTraces : public ::testing::TestWithParam<Real> {};
TEST_P(RealTraces, AreReadWhole) {
  const auto got = read_files({std::string(DFT_TEST_TRACES) + "/" + GetParam().file});
  EXPECT_EQ(got.events.size(), GetParam().events);
  EXPECT_EQ(got.problems.size(), GetParam().problems);
  EXPECT_EQ(got.files[0].generation, Generation::kG3);
  EXPECT_EQ(got.files[0].lines, GetParam().events + GetParam().problems);
}
INSTANTIATE_TEST_SUITE_P(Original, RealTraces,
                         ::testing::Values(Real{"original-2.2-io-preload.pfw.gz", 347, 0},
                                           Real{"original-2.2-python-app.pfw.gz", 42, 0},
                                           Real{"original-2.2-cuda-api.pfw.gz", 628, 0},
                                           Real{"original-2.2-cuda-nvtx.pfw.gz", 679, 1}));

TEST(RealTrace, TheBrokenLineOfTheOriginalIsNamed) {
  const auto got = read_files({std::string(DFT_TEST_TRACES) + "/original-2.2-cuda-nvtx.pfw.gz"});
  ASSERT_EQ(got.problems.size(), 1u);
  EXPECT_EQ(got.problems[0].kind, ProblemKind::kBadJson);
  EXPECT_GT(got.problems[0].line, 1u);
  EXPECT_FALSE(got.problems[0].reason.empty());
}

}  // namespace
}  // namespace dft::read::test
