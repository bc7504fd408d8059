// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <random>

#include "read/traces_for_test.h"

namespace dft::read::test {
namespace {

std::string lines(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) {
    text += event_line(static_cast<std::uint64_t>(i), "work", 1000 + static_cast<std::uint64_t>(i), 1,
                       R"({"hhash":"2a702c695247d487","step":)" + std::to_string(i) + "}");
  }
  return text;
}

void expect_sequence(const Collected& got, std::uint64_t first, std::uint64_t last) {
  ASSERT_EQ(got.events.size(), last - first);
  for (std::size_t i = 0; i < got.events.size(); ++i) {
    ASSERT_EQ(got.events[i].id, first + i);
    ASSERT_EQ(got.events[i].line, i + 1);
  }
}

struct Shape {
  const char* name;
  std::string (*make)();
};

std::string plain() { return lines(1, 5001); }
std::string one_member() { return gzip(lines(1, 5001)); }
std::string many_members() {
  std::string out;
  for (int i = 1; i < 5001; i += 100) out += gzip(lines(i, i + 100));
  return out;
}
std::string members_that_cut_lines() {
  const std::string text = lines(1, 5001);
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += 777) out += gzip(text.substr(at, 777));
  return out;
}
std::string sized_members() {
  std::string out;
  for (int i = 1; i < 5001; i += 100) out += gzip(lines(i, i + 100), true);
  return out;
}
std::string mixed_members() {
  std::string out;
  for (int i = 1; i < 5001; i += 100) out += gzip(lines(i, i + 100), i % 3 != 0);
  return out;
}
std::string with_empty_members() {
  return gzip("") + gzip(lines(1, 2501)) + gzip("") + gzip("", true) + gzip(lines(2501, 5001), true) + gzip("");
}
std::string windows_lines() {
  std::string text = lines(1, 5001);
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "\r\n");
  return text;
}

class Shapes : public ::testing::TestWithParam<Shape> {};
TEST_P(Shapes, EveryLineComesOnceAndInOrder) {
  const TempDir dir;
  const std::string path = dir.write("t.pfw.gz", GetParam().make());
  for (const unsigned workers : {1u, 4u}) {
    for (const std::size_t block : {std::size_t{300}, std::size_t{1} << 20}) {
      const auto got = read_files({path}, true, workers, block);
      EXPECT_TRUE(got.problems.empty()) << got.problems[0].reason;
      expect_sequence(got, 1, 5001);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Files, Shapes,
                         ::testing::Values(Shape{"plain", plain}, Shape{"one", one_member}, Shape{"many", many_members},
                                           Shape{"cut", members_that_cut_lines}, Shape{"sized", sized_members},
                                           Shape{"mixed", mixed_members}, Shape{"empty", with_empty_members},
                                           Shape{"crlf", windows_lines}),
                         [](const auto& shape) { return shape.param.name; });

TEST(Scanner, FilesComeInTheOrderGivenWithTheirOwnLineNumbers) {
  const TempDir dir;
  const auto a = dir.write("a.pfw", lines(1, 101));
  const auto b = dir.write("b.pfw.gz", gzip(lines(101, 201), true));
  const auto got = read_files({b, a});
  ASSERT_EQ(got.events.size(), 200u);
  EXPECT_EQ(got.events[0].id, 101u);
  EXPECT_EQ(got.events[100].id, 1u);
  EXPECT_EQ(got.events[100].line, 1u);
  ASSERT_EQ(got.files.size(), 2u);
  EXPECT_EQ(got.files[0].sized_members, 1u);
  EXPECT_EQ(got.files[1].text_bytes, lines(1, 101).size());
}

TEST(Scanner, TheLastEventCountsWithAndWithoutNewline) {
  const TempDir dir;
  for (const int count : {0, 1, 2}) {
    for (const bool newline : {true, false}) {
      std::string text = lines(1, 1 + count);
      if (!newline && !text.empty()) text.pop_back();
      for (const bool zip : {true, false}) {
        const auto got = read_files({dir.write("t.pfw", zip ? gzip(text) : text)});
        EXPECT_EQ(got.events.size(), static_cast<std::size_t>(count));
        const bool complaint = count > 0 ? !newline : !zip;
        EXPECT_EQ(got.problems.size(), complaint ? 1u : 0u);
      }
    }
  }
}

TEST(Scanner, ConsumerCanStopEarly) {
  struct Stop : Consumer {
    int blocks = 0;
    bool block(const Block&) override { return ++blocks < 3; }
  } stop;
  const TempDir dir;
  ScanOptions options;
  options.block_size = 500;
  options.workers = 2;
  EXPECT_FALSE(scan({dir.write("t.pfw", plain())}, options, stop));
  EXPECT_EQ(stop.blocks, 3);
}

TEST(Scanner, AFailureOfTheConsumerReachesTheCaller) {
  struct Fail : Consumer {
    bool block(const Block&) override { throw std::runtime_error("no"); }
  } fail;
  const TempDir dir;
  EXPECT_THROW(scan({dir.write("t.pfw", plain())}, ScanOptions{}, fail), std::runtime_error);
}

TEST(Scanner, MemoryDoesNotGrowWithTheTrace) {
  // 64 MiB of text in blocks of 64 KiB: no more blocks may exist at a time than the invariant says.
  struct Live : Consumer {
    std::vector<const char*> seen;
    std::uint64_t events = 0;
    bool block(const Block& block) override {
      events += block.events.size();
      for (const char* text : seen) {
        if (text == block.text.get()) return true;
      }
      seen.push_back(block.text.get());
      return true;
    }
  } live;
  const TempDir dir;
  const std::string piece = gzip(lines(1, 401), true);
  std::string file;
  for (int i = 0; i < 1000; ++i) file += piece;
  ScanOptions options;
  options.workers = 2;
  ASSERT_TRUE(scan({dir.write("t.pfw.gz", file)}, options, live));
  EXPECT_EQ(live.events, 400000u);
  EXPECT_LE(live.seen.size(), 6u);
}

// A string of 12 million control bytes takes this much: `\\u0001` each.
TEST(Scanner, ALineOfAnyLengthIsReadStrictly) {
  const test::TempDir dir;
  const std::string value(std::size_t{70} << 20, 'v');
  const std::string text =
      test::event_line(1, "long", 5, 1, "{\"text\":\"" + value + "\"}") + test::event_line(2, "next", 6, 1);
  for (const auto& file : {dir.write("t.pfw", text), dir.write("t.pfw.gz", test::gzip(text, true)),
                           dir.write("u.pfw.gz", test::gzip(text))}) {
    const auto got = test::read_files({file}, true, 1);
    ASSERT_TRUE(got.problems.empty()) << got.problems[0].reason;
    ASSERT_EQ(got.events.size(), 2u);
    EXPECT_GT(got.events[0].args.size(), value.size());
    EXPECT_EQ(got.events[1].name, "next");
  }
}

TEST(Scanner, WhatIsNoRecordIsGivenUpBeforeItFillsTheMemory) {
  const test::TempDir dir;
  const std::string file =
      dir.write("t.pfw", std::string(std::size_t{200} << 20, 'x') + "\n" + test::event_line(1, "w", 5, 1));
  const auto got = test::read_files({file}, true, 1);
  ASSERT_EQ(got.problems.size(), 1u);
  EXPECT_EQ(got.problems[0].kind, ProblemKind::kLineTooLong);
  EXPECT_EQ(got.problems[0].reason, "a line is longer than 64 MiB; it is skipped");
  EXPECT_EQ(got.events.size(), 1u);
}

TEST(Scanner, OffsetsPointAtTheLine) {
  const TempDir dir;
  const std::string text = lines(1, 300) + "{broken}\n" + lines(300, 310);
  for (const bool zip : {false, true}) {
    const auto got = read_files({dir.write("t.pfw", zip ? gzip(text) : text)}, false, 2, 512);
    ASSERT_EQ(got.problems.size(), 1u);
    EXPECT_EQ(got.problems[0].line, 300u);
    EXPECT_EQ(text.substr(got.problems[0].byte, 6), "broken");
    EXPECT_EQ(got.events.back().byte,
              text.size() - event_line(309, "work", 1309, 1, R"({"hhash":"2a702c695247d487","step":309})").size());
  }
}

}  // namespace
}  // namespace dft::read::test
