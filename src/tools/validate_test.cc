// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "tools/command_for_test.h"

namespace dft::tools::test {
namespace {

using read::test::gzip;
using read::test::TempDir;

std::string good_body() { return work(2, 2000, 10) + work(3, 2020, 10) + work(4, 1900, 200, "outer"); }
std::string good() { return our_trace(good_body(), 3); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Validate, PassesOurTraces) {
  const TempDir dir;
  for (const auto& file : {dir.write("plain.pfw", good()), dir.write("one.pfw.gz", gzip(good())),
                           dir.write("sized.pfw.gz", gzip(good(), true))}) {
    const Said said = dftracer({"validate", file});
    EXPECT_EQ(said.status, 0) << said.out << said.err;
    EXPECT_NE(said.out.find("valid (8 lines"), std::string::npos) << said.out;
  }
}

TEST(Validate, PassesCorrectTracesOfTheOriginalAndFailsOnItsBrokenOne) {
  const std::string folder = DFT_TEST_TRACES;
  for (const char* name : {"io-preload", "python-app", "cuda-api"}) {
    const Said said = dftracer({"validate", folder + "/original-2.2-" + name + ".pfw.gz"});
    EXPECT_EQ(said.status, 0) << said.out;
  }
  const Said said = dftracer({"validate", folder + "/original-2.2-cuda-nvtx.pfw.gz"});
  EXPECT_EQ(said.status, 1);
  EXPECT_NE(said.out.find("original-2.2-cuda-nvtx.pfw.gz:657: ',' or '}' expected (byte "), std::string::npos)
      << said.out;
}

TEST(Validate, PassesOlderGenerations) {
  const TempDir dir;
  const auto file = dir.write(
      "t.pfw",
      "[\n"
      R"(  {"id":"0","name":"open","cat":"POSIX","pid":"100","tid":"203","ts":"17","dur":"12","ph":"X","args":{"hostname":"n1"}})"
      "\n"
      R"({"id":"1","name":"open","cat":"POSIX","pid":"100","tid":"203","ts":"18","dur":"12","ph":"X","args":{}})"
      "\n]");
  const Said said = dftracer({"validate", file});
  EXPECT_EQ(said.status, 0) << said.out;
}

std::string loss(const std::string& cause, int count) {
  return R"({"name":"loss","cat":"dftracer","type":1,"pid":7,"tid":7,"ph":4,"args":{"hhash":"2a702c695247d487","cause":")" +
         cause + R"(","count":)" + std::to_string(count) + "}}\n";
}

struct Damage {
  const char* name;
  std::string bytes;
  const char* says;
};
class Damaged : public ::testing::TestWithParam<Damage> {};
TEST_P(Damaged, IsFoundAndNamed) {
  const TempDir dir;
  const auto file = dir.write("t.pfw.gz", GetParam().bytes);
  const Said said = dftracer({"validate", file});
  EXPECT_EQ(said.status, 1) << said.out;
  EXPECT_NE(said.out.find(GetParam().says), std::string::npos) << said.out << "\n expected: " << GetParam().says;
}

std::string flipped_checksum() {
  std::string bytes = gzip(good(), true);
  bytes[bytes.size() - 7] ^= 1;
  return bytes;
}

std::vector<Damage> damages() {
  const std::string with_file =
      replaced(good_body(), R"("ph":1})", R"("ph":1,"args":{"hhash":"2a702c695247d487","fhash":"0123456789abcdef"}})");
  return {
      {"BadJson", replaced(good(), "\"dur\":10", "\"dur\":"), ":5: value expected (byte "},
      {"BadUtf8", replaced(good(), "\"outer\"", "\"out\xe9r\""), ":7: invalid UTF-8"},
      {"DuplicateKey", replaced(good(), "\"ts\":2000", "\"ts\":2000,\"ts\":2000"), ":5: duplicate key"},
      {"MissingKey", replaced(good(), ",\"tid\":7,\"ts\":2000", ",\"ts\":2000"), ":5: missing key \"tid\""},
      {"WrongType", replaced(good(), "\"ts\":2000", "\"ts\":\"2000\""), ":5: wrong type of key \"ts\""},
      {"IdTwice", replaced(good(), "\"id\":3,", "\"id\":2,"), ":6: id 2 after id 2"},
      {"IdBackwards", replaced(replaced(good(), "\"id\":2,", "\"id\":9,"), "\"id\":1,", "\"id\":1,"),
       ":6: id 3 after id 9"},
      {"UnresolvedHash", our_trace(with_file, 3), "fhash 0123456789abcdef has no record before it"},
      {"HostHashNotFirst",
       replaced(good(), R"("args":{"hhash":"2a702c695247d487","num_events":4})",
                R"("args":{"num_events":4,"hhash":"2a702c695247d487"})"),
       "args do not begin with hhash"},
      {"TimeOverflow", replaced(good(), "\"dur\":10", "\"dur\":18446744073709551615"), "ts + dur is beyond 64 bits"},
      {"Truncated", gzip(good(), true).substr(0, gzip(good(), true).size() - 9), "the file ends inside a gzip member"},
      {"TruncatedUnsized", gzip(good()).substr(0, gzip(good()).size() - 3), "the file ends inside a gzip trailer"},
      {"TrailingGarbage", gzip(good(), true) + "garbage", "bytes that are no gzip member"},
      {"BadChecksum", flipped_checksum(), "checksum of the gzip member is wrong"},
      {"AfterEnd", gzip(good() + work(6, 2000000, 1), true), ":9: record after `end`"},
      {"NoNewline", good().substr(0, good().size() - 1), "the last line has no newline"},
      {"Empty", "", "the file is empty"},
      {"EmptyMember", gzip("", true), "the file holds no record"},
      {"OnlyBracket", gzip("[\n", true), "the file holds no record"},
      {"NumEvents", our_trace(good_body(), 4), "`end` tells of 5 events but 4 are there"},
      {"IdGapWithoutEnd", our_trace(work(2, 2000, 10) + work(4, 2020, 10), 3, false),
       "the ids tell of 4 events but 3 are there"},
      {"MoreThanTheLossesExplain", our_trace(work(2, 2000, 10) + loss("disk_full", 2), 4),
       "`end` tells of 5 events but 2 are there, which is more than the losses explain: disk_full 2"},
      {"LossBeforeNumbering", our_trace(work(2, 2000, 10) + loss("buffer_full", 9), 2),
       "`end` tells of 3 events but 2 are there"},
      {"MoreThanTold", our_trace(good_body() + loss("disk_full", 9), 2), "`end` tells of 3 events but 4 are there"},
      {"MissingLine", our_trace(work(2, 2000, 10) + work(4, 2020, 10), 3), "`end` tells of 4 events but 3 are there"},
  };
}
INSTANTIATE_TEST_SUITE_P(Kinds, Damaged, ::testing::ValuesIn(damages()),
                         [](const auto& damage) { return damage.param.name; });

TEST(Validate, LossesAreWarningsUnlessAskedFor) {
  const TempDir dir;
  const auto lossy = dir.write("t.pfw", our_trace(good_body() + loss("buffer_full", 3), 3));
  EXPECT_EQ(dftracer({"validate", lossy}).status, 0);
  EXPECT_NE(dftracer({"validate", lossy}).out.find("warning: loss record"), std::string::npos);
  EXPECT_EQ(dftracer({"validate", "--strict-loss", lossy}).status, 1);
  const auto endless = dir.write("e.pfw", our_trace(good_body(), 3, false));
  EXPECT_EQ(dftracer({"validate", endless}).status, 0);
  EXPECT_EQ(dftracer({"validate", "--strict-loss", endless}).status, 1);
}

TEST(Validate, RegionsThatCrossAreOneWarning) {
  const TempDir dir;
  // start a, start b, end a, end b: twice.
  const auto file =
      dir.write("t.pfw", our_trace(work(2, 2000, 10) + work(3, 2005, 10) + work(4, 3000, 10) + work(5, 3005, 10), 4));
  for (const auto& arguments : {std::vector<std::string>{"validate", file}, {"validate", "--strict-loss", file}}) {
    const Said said = dftracer(arguments);
    EXPECT_EQ(said.status, 0) << said.out;
    EXPECT_NE(said.out.find(":6: warning: overlaps an earlier region of thread 7 without being inside or around it; "
                            "2 such regions in this file (byte "),
              std::string::npos)
        << said.out;
    EXPECT_NE(said.out.find("valid, 1 warning ("), std::string::npos) << said.out;
  }
}

TEST(Validate, MissingEventsThatLossesExplainAreAWarning) {
  const TempDir dir;
  // Ids 3 to 48,130 were in blocks that could not be written.
  const auto file =
      dir.write("t.pfw", our_trace(work(2, 2000, 10) + loss("disk_full", 48'128) + work(48'131, 2100, 10), 48'130));
  const Said said = dftracer({"validate", file});
  EXPECT_EQ(said.status, 0) << said.out;
  EXPECT_NE(said.out.find("warning: 48,128 events are missing: disk_full 48,128 (byte "), std::string::npos)
      << said.out;
  EXPECT_EQ(dftracer({"validate", "--strict-loss", file}).status, 1);
  const auto endless =
      dir.write("e.pfw", our_trace(work(2, 2000, 10) + loss("file_lost", 2) + work(5, 2100, 10), 4, false));
  const Said of_endless = dftracer({"validate", endless});
  EXPECT_EQ(of_endless.status, 0) << of_endless.out;
  EXPECT_NE(of_endless.out.find("warning: 2 events are missing: file_lost 2\n"), std::string::npos) << of_endless.out;
}

TEST(Validate, TheSumsOfTheEndExplainWhatLostLossRecordsCannot) {
  const TempDir dir;
  const auto file = dir.write("t.pfw", replaced(our_trace(work(2, 2000, 10), 4), "\"num_events\":5",
                                                "\"num_events\":5,\"lost\":{\"disk_full\":2,\"write_error\":1}"));
  const Said said = dftracer({"validate", file});
  EXPECT_EQ(said.status, 0) << said.out;
  EXPECT_NE(said.out.find("warning: 3 events are missing: disk_full 2, write_error 1"), std::string::npos) << said.out;
}

TEST(Validate, StartUpRecordsThatWereLostAreWrittenAgain) {
  const TempDir dir;
  // The first block (start 1, events 2 to 4) was lost; another `start` follows because its block failed half-written.
  std::string text = our_trace(loss("disk_full", 3) + work(6, 2000, 10), 5);
  text = replaced(text, "\"id\":1,", "\"id\":5,");
  const auto once = dir.write("once.pfw", text);
  const Said said = dftracer({"validate", once});
  EXPECT_EQ(said.status, 0) << said.out;
  EXPECT_NE(said.out.find("warning: 4 events are missing: disk_full 3, `start` 1"), std::string::npos) << said.out;
  const std::string start = good().substr(0, good().find("{\"id\":2,"));
  const auto twice =
      dir.write("twice.pfw", start + loss("disk_full", 1) + replaced(our_trace("", 2), "\"id\":1,", "\"id\":3,"));
  const Said of_twice = dftracer({"validate", twice});
  EXPECT_EQ(of_twice.status, 0) << of_twice.out;
  EXPECT_EQ(dftracer({"info", twice}).out.find("NO END"), std::string::npos) << dftracer({"info", twice}).out;
}

TEST(Validate, NamesEveryBadInputAndReadsTheOthers) {
  const TempDir dir;
  dir.write("a.pfw", good());
  dir.write("b.pfw.gz", "");
  mkdir(dir.path("c.pfw").c_str(), 0700);
  const Said said = dftracer({"validate", dir.path(), dir.path("absent")});
  EXPECT_EQ(said.status, 1);
  EXPECT_NE(said.out.find("a.pfw: valid"), std::string::npos);
  EXPECT_NE(said.out.find("b.pfw.gz: the file is empty"), std::string::npos);
  EXPECT_NE(said.out.find("c.pfw: is a directory"), std::string::npos);
  EXPECT_NE(said.err.find("absent: no such file"), std::string::npos);
}

TEST(Validate, JsonTellsTheSame) {
  const TempDir dir;
  const Said said = dftracer({"validate", "--json", dir.write("t.pfw", replaced(good(), "\"id\":3,", "\"id\":2,"))});
  EXPECT_EQ(said.status, 1);
  EXPECT_EQ(said.out.find(R"({"schema":1,"command":"validate","rows":[{"file":)"), 0u) << said.out;
  EXPECT_NE(said.out.find(R"("kind":"id")"), std::string::npos);
}

}  // namespace
}  // namespace dft::tools::test
