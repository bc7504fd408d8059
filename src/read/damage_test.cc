// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "read/traces_for_test.h"

namespace dft::read::test {
namespace {

std::string lines(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i)
    text += event_line(static_cast<std::uint64_t>(i), "w", static_cast<std::uint64_t>(i), 1);
  return text;
}

bool has(const Collected& got, ProblemKind kind) {
  for (const auto& problem : got.problems) {
    if (problem.kind == kind) return true;
  }
  return false;
}

// Events that are delivered are those of the undamaged file, in order, none twice and none made up.
void expect_subsequence(const Collected& got) {
  std::uint64_t last = 0;
  for (const auto& event : got.events) {
    EXPECT_GT(event.id, last);
    EXPECT_EQ(event.ts, event.id);
    last = event.id;
  }
}

TEST(Damage, ACutFileGivesEveryWholeLineBeforeTheCut) {
  const TempDir dir;
  for (const bool sized : {false, true}) {
    const std::string whole = gzip(lines(1, 401), sized) + gzip(lines(401, 801), sized);
    const std::size_t first = gzip(lines(1, 401), sized).size();
    std::mt19937 random(1);
    for (int round = 0; round < 60; ++round) {
      const std::size_t cut =
          round < 12 ? whole.size() - 1 - static_cast<std::size_t>(round) : 3 + random() % (whole.size() - 4);
      const auto got = read_files({dir.write("t.pfw.gz", whole.substr(0, cut))}, false, 2, 1000);
      expect_subsequence(got);
      if (cut >= first) {
        EXPECT_GE(got.events.size(), 400u) << cut;
      }
      if (cut >= whole.size() - 8) {
        EXPECT_EQ(got.events.size(), 800u) << cut;
      }
      if (cut != first) {
        EXPECT_TRUE(has(got, ProblemKind::kTruncated)) << cut << " sized " << sized;
        EXPECT_LE(got.problems.back().byte, cut);
        EXPECT_TRUE(got.problems.back().in_file);
      } else {
        EXPECT_TRUE(got.problems.empty());
      }
    }
  }
}

TEST(Damage, AFlippedByteCostsAtMostItsMember) {
  const TempDir dir;
  for (const bool sized : {false, true}) {
    const std::string a = gzip(lines(1, 401), sized), b = gzip(lines(401, 801), sized),
                      c = gzip(lines(801, 1201), sized);
    std::mt19937 random(2);
    for (int round = 0; round < 60; ++round) {
      std::string file = a + b + c;
      const std::size_t at = a.size() + 40 + random() % (b.size() - 40);
      file[at] = static_cast<char>(file[at] ^ (1 << random() % 8));
      const auto got = read_files({dir.write("t.pfw.gz", file)}, true, 2);
      EXPECT_FALSE(got.problems.empty()) << at;
      std::size_t outer = 0;
      for (const auto& event : got.events) outer += event.id <= 400 || (event.id > 800 && event.id <= 1200) ? 1 : 0;
      EXPECT_GE(outer, 800u) << at << " sized " << sized;
    }
  }
}

TEST(Damage, BytesBehindTheLastMemberAreReported) {
  const TempDir dir;
  for (const bool sized : {false, true}) {
    const std::string good = gzip(lines(1, 11), sized);
    const auto got = read_files({dir.write("t.pfw.gz", good + "garbage")});
    EXPECT_EQ(got.events.size(), 10u);
    ASSERT_EQ(got.problems.size(), 1u);
    EXPECT_EQ(got.problems[0].kind, ProblemKind::kTrailingBytes);
    EXPECT_EQ(got.problems[0].byte, good.size());
  }
}

TEST(Damage, GarbageBetweenMembersIsSteppedOver) {
  const TempDir dir;
  for (const bool sized : {false, true}) {
    const auto got = read_files(
        {dir.write("t.pfw.gz", gzip(lines(1, 11), sized) + "\x1f\x8b garbage" + gzip(lines(11, 21), sized))});
    EXPECT_EQ(got.events.size(), 20u);
    EXPECT_TRUE(has(got, ProblemKind::kTrailingBytes));
  }
}

TEST(Damage, AWrongChecksumIsReportedAndTheLinesStay) {
  const TempDir dir;
  for (const bool sized : {false, true}) {
    std::string file = gzip(lines(1, 11), sized);
    file[file.size() - 6] ^= 1;
    const auto got = read_files({dir.write("t.pfw.gz", file + gzip(lines(11, 21), sized))});
    EXPECT_EQ(got.events.size(), 20u);
    EXPECT_TRUE(has(got, ProblemKind::kBadChecksum));
  }
}

TEST(Damage, AMemberThatLiesAboutItsSizeOrLinesIsReported) {
  const TempDir dir;
  const std::string good = gzip(lines(1, 11), true);
  for (const std::size_t field : {16u, 20u, 24u}) {  // member size, text size, lines
    for (const int change : {1, -1, 1 << 16}) {
      std::string file = good;
      std::uint32_t value = 0;
      file.copy(reinterpret_cast<char*>(&value), 4, field);
      value += static_cast<std::uint32_t>(change);
      file.replace(field, 4, std::string(reinterpret_cast<const char*>(&value), 4));
      const auto got = read_files({dir.write("t.pfw.gz", file + gzip(lines(11, 21), true))});
      EXPECT_FALSE(got.problems.empty()) << field << " " << change;
    }
  }
}

TEST(Damage, BrokenLinesAreCountedAndNothingElseIsLost) {
  const TempDir dir;
  const std::string text = lines(1, 11) + "{\"id\":3,\"name\":\"qu\"ote\"}\n" + lines(11, 21) + "\"\n" + lines(21, 31) +
                           std::string("\0\0\0\n", 4) + "{\"name\":\n" + lines(31, 41);
  const auto got = read_files({dir.write("t.pfw", text)});
  EXPECT_EQ(got.events.size(), 40u);
  ASSERT_EQ(got.problems.size(), 4u);
  EXPECT_EQ(got.problems[0].line, 11u);
  EXPECT_EQ(got.problems[1].line, 22u);
  EXPECT_EQ(got.problems[2].line, 33u);
  EXPECT_EQ(got.problems[3].line, 34u);
}

TEST(Damage, InvalidUtf8IsReportedAndTheEventStaysUnlessStrict) {
  const TempDir dir;
  const auto path = dir.write("t.pfw", lines(1, 3) + event_line(3, "caf\xe9", 3, 1) + lines(4, 6));
  const auto got = read_files({path});
  ASSERT_EQ(got.events.size(), 5u);
  EXPECT_EQ(got.events[2].name, "caf\xef\xbf\xbd");
  ASSERT_EQ(got.problems.size(), 1u);
  EXPECT_EQ(got.problems[0].kind, ProblemKind::kBadUtf8);
  EXPECT_EQ(read_files({path}, true).events.size(), 4u);
}

TEST(Damage, OddInputsAreNamedAndTheOthersRead) {
  const TempDir dir;
  mkdir(dir.path("d.pfw").c_str(), 0700);
  mkfifo(dir.path("f.pfw").c_str(), 0600);
  std::string random_bytes;
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) random_bytes += static_cast<char>(random());
  const auto got =
      read_files({dir.write("empty.pfw.gz", ""), dir.write("random.pfw.gz", random_bytes), dir.path("d.pfw"),
                  dir.path("f.pfw"), dir.path("absent.pfw"), dir.write("good.pfw", lines(1, 11))});
  EXPECT_EQ(got.files.size(), 6u);
  std::size_t good = 0;
  for (const auto& event : got.events) good += event.name == "w" ? 1 : 0;
  EXPECT_EQ(good, 10u);
  EXPECT_TRUE(has(got, ProblemKind::kEmptyFile));
  EXPECT_TRUE(has(got, ProblemKind::kCannotRead));
  for (std::size_t i = 0; i < 5; ++i) EXPECT_GT(got.files[i].problems, 0u) << i;
}

TEST(Damage, BytesThatAreGoneFromAMemberCostOnlyIt) {
  const TempDir dir;
  std::string file = gzip(lines(1, 11), true) + gzip(lines(11, 21), true);
  file.erase(60, 40);
  const auto got = read_files({dir.write("t.pfw.gz", file + gzip(lines(21, 31), true) + gzip(lines(31, 41), true))});
  EXPECT_EQ(std::count_if(got.events.begin(), got.events.end(), [](const auto& event) { return event.id > 10; }), 30);
  EXPECT_FALSE(got.problems.empty());
}

TEST(Damage, AFileWhoseFirstBytesAreWrongIsStillGzip) {
  const TempDir dir;
  std::string file = gzip(lines(1, 11), true) + gzip(lines(11, 21), true);
  file.replace(0, 4, "oops");
  const auto got = read_files({dir.write("t.pfw.gz", file)});
  EXPECT_EQ(got.events.size(), 10u);
  EXPECT_TRUE(has(got, ProblemKind::kTrailingBytes));
  EXPECT_EQ(read_files({dir.write("text.pfw.gz", lines(1, 11))}).events.size(), 10u) << "text under a wrong name";
}

TEST(Damage, AGzipMemberWithNameAndCommentIsRead) {
  const TempDir dir;
  std::string member = gzip(lines(1, 11));
  member[3] = 8 | 16;
  member.insert(10, std::string("name\0comment\0", 13));
  EXPECT_EQ(read_files({dir.write("t.pfw.gz", member)}).events.size(), 10u);
}

}  // namespace
}  // namespace dft::read::test
