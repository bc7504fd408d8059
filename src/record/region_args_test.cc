// SPDX-License-Identifier: MIT
// The args of regions in every form they can take.
#include "record/region_args.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "record/drained_records_for_test.h"
#include "record/emit.h"

namespace dft::record {
namespace {

using model::ArgType;

class RegionArgs : public testing::Test {
 protected:
  void SetUp() override { drained_.begin({}); }
  void TearDown() override {
    if (recording()) drained_.end();
  }
  const CopiedRecord& close_and_get(Region* region) {
    close_region(region);
    drained_.end();
    EXPECT_EQ(drained_.records.size(), 1u);
    EXPECT_EQ(drained_.lost, 0u);
    return drained_.records.at(0);
  }
  static std::vector<std::string> keys_of(const CopiedRecord& record) {
    std::vector<std::string> keys;
    model::ArgCursor cursor;
    EXPECT_TRUE(model::open_args(record.header(), recorder.definitions, cursor));
    for (model::ArgView arg; cursor.next(arg);) {
      if (arg.type != model::ArgType::kDropped) keys.emplace_back(arg.key, arg.key_len);
    }
    EXPECT_TRUE(cursor.at_end());
    return keys;
  }
  model::SiteId site_ = site_id("region", "cat", model::Layer::kCppApp);
  DrainedRecords drained_;
};

TEST_F(RegionArgs, AnOddKeyKeepsWhatStoodBefore) {
  Region* region = open_region(site_);
  add_int64(region, "plain", 1);
  add_string(region, "text", "twelve bytes");
  add_int64(region, "new\nline", 2);
  add_int64(region, "after", 3);
  const CopiedRecord& record = close_and_get(region);
  EXPECT_EQ(record.header().schema, model::kSelfDescribing);
  EXPECT_EQ(keys_of(record), (std::vector<std::string>{"plain", "text", "new\nline", "after"}));
  EXPECT_EQ(record.arg("plain"), 1u);
  EXPECT_EQ(record.text("text"), "twelve bytes");
  EXPECT_EQ(record.arg("new\nline"), 2u);
  EXPECT_EQ(record.arg("after"), 3u);
}

TEST_F(RegionArgs, ARelationKeepsWhatStoodBefore) {
  Region* region = open_region(site_);
  add_double(region, "d", 0.5);
  add_relation(region, "reads", 7);
  add_relation(region, "reads", 8);
  const CopiedRecord& record = close_and_get(region);
  EXPECT_EQ(keys_of(record), (std::vector<std::string>{"d", "reads", "reads"}));
}

TEST_F(RegionArgs, AnyNumberOfArgs) {
  Region* region = open_region(site_);
  for (int i = 0; i < 1000; ++i) add_int64(region, "k" + std::to_string(i), i);
  for (int i = 0; i < 1000; i += 7) add_int64(region, "k" + std::to_string(i), -i);
  const CopiedRecord& record = close_and_get(region);
  EXPECT_EQ(keys_of(record).size(), 1000u);
  for (int i = 0; i < 1000; ++i) {
    const auto value = static_cast<std::int64_t>(record.arg("k" + std::to_string(i)));
    EXPECT_EQ(value, i % 7 == 0 ? -i : i);
  }
}

TEST_F(RegionArgs, ValuesOfAnySize) {
  const std::string texts[] = {"",
                               "x",
                               "12345678",
                               std::string(64, 'a'),
                               std::string(65, 'b'),
                               std::string(304, 'c'),
                               std::string(300'000, 'd'),
                               std::string(1'000'000, 'e')};
  Region* region = open_region(site_);
  int number = 0;
  for (const std::string& text : texts) add_string(region, "t" + std::to_string(number++), text);
  add_int64(region, "last", 9);
  const CopiedRecord& record = close_and_get(region);
  EXPECT_NE(record.header().schema, model::kSelfDescribing);
  number = 0;
  for (const std::string& text : texts) EXPECT_EQ(record.text("t" + std::to_string(number++)), text);
  EXPECT_EQ(record.arg("last"), 9u);
}

TEST_F(RegionArgs, AShortTextOfAnyLength) {
  const std::string around(100, '#');
  for (std::size_t length = 0; length <= 72; ++length) {
    std::string text = around;
    for (std::size_t i = 0; i < length; ++i) text[i + 10] = static_cast<char>('a' + i % 26);
    Region* region = open_region(site_);
    add_string(region, "t", std::string_view(text).substr(10, length));
    close_region(region);
  }
  drained_.end();
  ASSERT_EQ(drained_.records.size(), 73u);
  for (std::size_t length = 0; length <= 72; ++length) {
    std::string padded(model::padded8(length), '\0');
    for (std::size_t i = 0; i < length; ++i) padded[i] = static_cast<char>('a' + i % 26);
    model::ArgView view{};
    ASSERT_TRUE(drained_.records[length].find("t", view)) << length;
    EXPECT_EQ(view.value_len, length);
    EXPECT_EQ(std::string(view.value, padded.size()), padded) << length;
  }
}

TEST_F(RegionArgs, FieldsThatAreNoneAreIgnored) {
  const std::uint64_t word = model::leading_word("k", 1);
  Region* region = open_region(site_);
  for (int round = 0; round < 2; ++round) {  // the second time "k" is known
    add_word(region, {ArgType{0}, 0, 0}, 1);
    add_word(region, {ArgType{0}, word, 1}, 2);
    add_word(region, {ArgType{5}, word, 1}, 3);
    add_word(region, {ArgType{255}, word, 1}, 4);
    add_word(region, {ArgType::kInt64, word, 0}, 5);
    add_word(region, {ArgType::kInt64, word, 9}, 6);
    add_text(region, {ArgType::kString, word, 0}, "x", 1);
    add_text(region, {ArgType::kString, word, 9}, "x", 1);
    add_word(region, {ArgType::kInt64, word, 1}, 7);
  }
  const CopiedRecord& record = close_and_get(region);
  EXPECT_EQ(keys_of(record), (std::vector<std::string>{"k"}));
  EXPECT_EQ(record.arg("k"), 7u);
}

TEST_F(RegionArgs, AHandlerThatInterruptsTheRecorderAddsToTheRegionAndClosesIt) {
  Region* outer = open_region(site_);
  for (int round = 0; round < 2; ++round) {
    add_int64(outer, "a", 1);
    this_thread->level.store(1);  // as if a signal had come inside the recorder, outside of an update of this region
    Region* own = open_region(site_);
    add_int64(own, "own", 2);
    add_int64(outer, "b", 3);
    close_region(own);
    if (round == 1) close_region(outer);
    this_thread->level.store(0);
  }
  drained_.end();
  ASSERT_EQ(drained_.records.size(), 3u);
  EXPECT_EQ(drained_.lost, 0u);
  const auto count = [this](const char* key) {
    return std::count_if(drained_.records.begin(), drained_.records.end(),
                         [&](const CopiedRecord& record) { return record.text(key) != "(absent)"; });
  };
  EXPECT_EQ(count("own"), 2);
  EXPECT_EQ(count("a"), 1);
  EXPECT_EQ(count("b"), 1);
}

TEST_F(RegionArgs, AHandlerThatEndsTheRegionInTheMiddleOfItsUpdateKeepsItsSlotFromOthers) {
  Region* outer = open_region(site_);
  add_int64(outer, "a", 1);
  model::RegionSlot* slot = this_thread->innermost;
  this_thread->level.store(1);  // as if a signal had come inside an update of this region
  slot->busy = 1;
  close_region(outer);
  Region* own[20];
  for (Region*& region : own) {
    region = open_region(site_);
    EXPECT_NE(this_thread->innermost, slot) << "the interrupted update goes on to write there";
  }
  for (Region* region : own) close_region(region);
  slot->busy = 0;
  this_thread->level.store(0);
  EXPECT_FALSE(is_open(outer));
  drained_.end();
  EXPECT_EQ(drained_.records.size(), 21u);
}

TEST_F(RegionArgs, AHandlerLeavesTheRegionThatIsAboutToEndAlone) {
  Region* outer = open_region(site_);
  this_thread->level.store(1);  // as if a signal had come inside the end of this region
  this_thread->closing = outer;
  add_int64(outer, "a", 1);
  close_region(outer);
  EXPECT_TRUE(is_open(outer));
  this_thread->level.store(0);
  close_region(outer);
  drained_.end();
  EXPECT_EQ(drained_.records.size(), 1u);
}

TEST_F(RegionArgs, OverwrittenValuesOfTheSameSizeStayInTheSchema) {
  Region* region = open_region(site_);
  add_int64(region, "n", 1);
  add_string(region, "s", "old!");
  add_string(region, "a_key_of_more_than_eight_bytes", "old!");
  add_int64(region, "n", 2);
  add_string(region, "s", "new!");
  add_string(region, "a_key_of_more_than_eight_bytes", "new?");
  const CopiedRecord& record = close_and_get(region);
  EXPECT_NE(record.header().schema, model::kSelfDescribing);
  EXPECT_EQ(keys_of(record).size(), 3u);
  EXPECT_EQ(record.arg("n"), 2u);
  EXPECT_EQ(record.text("s"), "new!");
  EXPECT_EQ(record.text("a_key_of_more_than_eight_bytes"), "new?");
}

TEST_F(RegionArgs, OverwrittenValuesOfAnotherSizeOrTypeWin) {
  Region* region = open_region(site_);
  add_string(region, "s", std::string(100'000, 'x'));
  add_int64(region, "n", 1);
  add_string(region, "s", "short");
  add_double(region, "n", 0.25);
  add_string(region, "s", std::string(200'000, 'y'));
  const CopiedRecord& record = close_and_get(region);
  EXPECT_EQ(keys_of(record).size(), 2u);
  EXPECT_EQ(record.text("s"), std::string(200'000, 'y'));
  double n;
  const std::uint64_t bits = record.arg("n");
  std::memcpy(&n, &bits, sizeof n);
  EXPECT_EQ(n, 0.25);
}

TEST_F(RegionArgs, OuterRegionsTakeArgsBeforeDuringAndAfterInnerOnes) {
  Region* outer = open_region(site_);
  add_int64(outer, "before", 1);
  Region* inner = open_region(site_);
  add_int64(inner, "inner", 2);
  add_int64(outer, "during", 3);
  close_region(inner);
  add_int64(outer, "after", 4);
  close_region(outer);
  drained_.end();
  ASSERT_EQ(drained_.records.size(), 2u);
  EXPECT_EQ(keys_of(drained_.records[0]), (std::vector<std::string>{"inner"}));
  EXPECT_EQ(keys_of(drained_.records[1]), (std::vector<std::string>{"before", "during", "after"}));
}

TEST_F(RegionArgs, RegionsClosedOutOfOrderKeepTheirOwn) {
  std::vector<Region*> open;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) open.push_back(open_region(site_));
    for (std::size_t i = 0; i < open.size(); i += 2) add_int64(open[i], "even", static_cast<std::int64_t>(i));
    for (std::size_t i = 1; i < open.size(); i += 2) add_int64(open[i], "odd", static_cast<std::int64_t>(i));
    for (std::size_t i = 0; i < open.size(); i += 2) close_region(open[i]);
    for (std::size_t i = 1; i < open.size(); i += 2) close_region(open[i]);
    open.clear();
  }
  drained_.end();
  ASSERT_EQ(drained_.records.size(), 30u);
  for (std::size_t i = 0; i < 30; ++i) {
    const std::size_t within = i % 10;
    const bool even = within < 5;
    EXPECT_EQ(drained_.records[i].arg(even ? "even" : "odd"), even ? 2 * within : 2 * (within - 5) + 1) << i;
  }
}

TEST_F(RegionArgs, EmittedEventsCanHaveASchema) {
  const ArgField fields[] = {{model::ArgType::kInt64, "ret"}, {model::ArgType::kString, "symbol"}};
  const model::SchemaId schema = schema_id(fields, 2);
  ASSERT_NE(schema, model::kSelfDescribing);
  ValueList<40> values;
  values.add(static_cast<std::uint64_t>(-1));
  values.add_string("a text that is too long for the list");
  emit_event(site_, 5, 6, {schema, values});
  drained_.end();
  ASSERT_EQ(drained_.records.size(), 1u);
  EXPECT_EQ(static_cast<std::int64_t>(drained_.records[0].arg("ret")), -1);
  EXPECT_EQ(drained_.records[0].text("symbol"), "a text that is too long ");
  const ArgField twice[] = {{model::ArgType::kInt64, "k"}, {model::ArgType::kInt64, "k"}};
  EXPECT_EQ(schema_id(twice, 2), model::kSelfDescribing);
}

TEST_F(RegionArgs, MoreThan65536KeysAllArriveAndTheLastWriteOfEachWins) {
  constexpr std::uint64_t kKeys = 70'000;
  Region* region = open_region(site_);
  const auto key = [](std::uint64_t i) { return "key" + std::to_string(i); };
  for (std::uint64_t i = 0; i < kKeys; ++i) add_uint64(region, key(i), i);
  for (std::uint64_t i = 0; i < kKeys; i += 1000) add_uint64(region, key(i), i + 1);  // in its place
  for (std::uint64_t i = 500; i < kKeys; i += 1000) add_string(region, key(i), "longer than a number");
  for (std::uint64_t i = 500; i < kKeys; i += 2000) add_string(region, key(i), "and longer still, of another size");
  const CopiedRecord& record = close_and_get(region);
  std::vector<std::string> keys = keys_of(record);
  EXPECT_EQ(keys.size(), kKeys);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end()) << "a key stands twice";
  EXPECT_EQ(record.arg("key1"), 1u);
  EXPECT_EQ(record.arg("key69000"), 69'001u);
  EXPECT_EQ(record.text("key1500"), "longer than a number");
  EXPECT_EQ(record.text("key68500"), "and longer still, of another size");
  EXPECT_EQ(record.arg("key69999"), 69'999u);
}

TEST_F(RegionArgs, MoreThan65536RelationsAllArrive) {
  constexpr std::uint64_t kRelations = 70'000;
  Region* region = open_region(site_);
  add_int64(region, "before", 1);
  for (std::uint64_t i = 0; i < kRelations; ++i) add_relation(region, "used", i);
  add_int64(region, "after", 2);
  const CopiedRecord& record = close_and_get(region);
  EXPECT_EQ(keys_of(record).size(), kRelations + 2);
  EXPECT_EQ(record.arg("after"), 2u);
}

std::uint64_t mapped_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096;
}

TEST_F(RegionArgs, WhatIsSpilledGoesBackWhoeverEndsTheRegionOrNobody) {
  const std::string long_text(100'000, 'x');
  std::uint64_t before = 0;
  for (int round = 0; round < 100; ++round) {
    if (round == 5) before = mapped_bytes();  // what the pool keeps is mapped
    std::vector<Region*> regions(20);
    for (Region*& region : regions) {
      region = open_region(site_);
      add_string(region, "s", long_text);
    }
    std::thread([&] {
      for (int i = 0; i < 10; ++i) close_region(regions[static_cast<std::size_t>(i)]);
    }).join();
    drained_.end();
    drained_.records.clear();
    drained_.begin({});
  }
  EXPECT_LT(mapped_bytes(), before + 64'000'000) << "95 times 20 times 128 KiB were used";
}

TEST_F(RegionArgs, TheArgsOfARegionThatAnotherThreadEndsStayUntilItsOwnThreadTakesTheSlotBack) {
  Region* region = open_region(site_);
  add_string(region, "s", std::string(1000, 'x'));
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(region) << 16 >> 16;
  const auto& slot = *reinterpret_cast<const model::RegionSlot*>(address);
  std::thread([region] { close_region(region); }).join();
  EXPECT_FALSE(is_open(region));
  EXPECT_EQ(slot.extent.load().spilled, 1) << "an update of this thread could be under way";
  std::vector<Region*> more(20);  // at the latest the ninth needs slots
  for (Region*& one : more) one = open_region(site_);
  EXPECT_EQ(slot.extent.load().spilled, 0);
  for (Region* one : more) close_region(one);
  drained_.end();
  EXPECT_EQ(drained_.records.size(), 21u);
}

}  // namespace
}  // namespace dft::record
