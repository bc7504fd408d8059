// SPDX-License-Identifier: MIT
// Records whose schema has constants: the same lines as with all values in the record.
#include <gtest/gtest.h>

#include <string>

#include "encode/event_encoder.h"
#include "encode/record_for_test.h"
#include "encode/strict_json_for_test.h"

namespace dft::encode {
namespace {

using model::ArgType;

constexpr std::uint64_t kStart = 1'700'000'000'000'000'000;
constexpr std::uint64_t kMost = 1'000'000'000'000;  // of what the numbers add to a time

struct Field {
  ArgType type;
  std::string_view key;
  bool constant;
  std::uint64_t value;
};

// a..i, of which b, g (signed) and h are the record's own.
class Constants : public testing::Test {
 protected:
  void SetUp() override {  // ticks are nanoseconds
    const base::ClockKnot knots[] = {{0, 0, 1.0}, {kStart - 1, kStart - 1, 1.0}};
    clock_.restore(knots, 2);
  }
  static EncoderOptions options() {
    EncoderOptions options;
    options.first_id = 9'990;  // lines with ids of fewer digits are not kept rendered
    return options;
  }
  model::SchemaId add(const std::vector<Field>& fields) {
    std::string list;
    for (const Field& field : fields) {
      const std::size_t value_len = field.constant ? 8 : 0;
      const std::size_t at = list.size();
      list.resize(at + model::arg_size(field.key.size(), value_len));
      model::put_arg(list.data() + at, field.type, field.key, &field.value, value_len);
    }
    return definitions_.add_schema(list);
  }
  static std::vector<Field> fields(std::uint64_t symbol, bool with_constants) {
    std::vector<Field> all;
    for (std::uint64_t i = 0; i < 8; ++i) {
      const bool own = i == 1 || i == 6 || i == 7;
      const ArgType type = i == 6 ? ArgType::kInt64 : ArgType::kUint64;
      all.push_back({type, std::string_view("abcdefgh").substr(i, 1), with_constants && !own, i});
    }
    all.insert(all.begin() + 4, {ArgType::kHash, "symbol_hash", with_constants, symbol});
    all.push_back({ArgType::kInt64, "i", with_constants, static_cast<std::uint64_t>(-9)});
    return all;
  }
  RecordBuilder by_constants(std::uint64_t b, std::int64_t g, std::uint64_t h, std::uint32_t lane = 9) const {
    const std::uint64_t begin = begin_ + b % kMost;
    RecordBuilder record(model::RecordKind::kEvent, site_, begin, begin + 2000 + h % kMost, model::kFlagConstants);
    record.header().schema = constants_;
    record.lane(lane).value(b).value(static_cast<std::uint64_t>(g)).value(h);
    return record;
  }
  RecordBuilder by_values(std::uint64_t b, std::int64_t g, std::uint64_t h, std::uint32_t lane) const {
    const std::uint64_t begin = begin_ + b % kMost;
    RecordBuilder record(model::RecordKind::kEvent, site_, begin, begin + 2000 + h % kMost);
    record.header().schema = values_;
    record.lane(lane);
    for (const std::uint64_t value :
         {std::uint64_t{0}, b, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{symbol_}, std::uint64_t{4},
          std::uint64_t{5}, static_cast<std::uint64_t>(g), h, static_cast<std::uint64_t>(-9)}) {
      record.value(value);
    }
    return record;
  }
  // The same records, both ways.
  void expect_same(std::uint64_t b, std::int64_t g, std::uint64_t h, std::uint32_t lane = 9, std::int32_t tid = 5) {
    out_.clear(), expected_.clear();
    ASSERT_TRUE(encoder_.encode(by_constants(b, g, h, lane).get(), tid, out_));
    ASSERT_TRUE(general_.encode(by_values(b, g, h, lane).get(), tid, expected_));
    ASSERT_EQ(out_.view(), expected_.view());
    for (const std::string& line : strict::lines_of(out_.view())) strict::parse(line);
  }

  FakeDefinitions definitions_;
  model::SiteId site_ = definitions_.add_site("kernel", "CUDA_KERNEL", model::Layer::kCuda);
  model::StringId symbol_ = definitions_.add_string(model::StringKind::kString, "_Zk");
  model::SchemaId constants_ = add(fields(symbol_, true));
  model::SchemaId values_ = add(fields(symbol_, false));
  base::ClockMap clock_;
  std::uint64_t begin_ = kStart + 5000;
  EventEncoder encoder_{definitions_, clock_, options()};
  EventEncoder general_{definitions_, clock_, options()};
  base::Buffer out_, expected_;
};

TEST_F(Constants, CountersJumpsAndSignsAreWrittenRight) {
  std::uint64_t jump = 1;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    jump = jump * 6364136223846793005u + 1442695040888963407u;
    // b crosses lengths as a counter; g turns negative now and then; h jumps over all lengths, then rests.
    const std::uint64_t b = i < 1000 ? 9990 + i / 50 : 99'998'500 + i;
    const auto g = static_cast<std::int64_t>(i % 97 == 0 ? -i : i * 30);
    const std::uint64_t h = i % 300 < 200 ? jump >> (jump & 63) : 123'456'789;
    ASSERT_NO_FATAL_FAILURE(expect_same(b, g, h)) << i;
  }
  for (const std::uint64_t b : {0ull, 9ull, 9999ull, 10000ull, 10001ull, 99999ull, 100000ull, ~0ull, ~0ull - 1}) {
    ASSERT_NO_FATAL_FAILURE(expect_same(b, INT64_MIN, b)) << b;
    ASSERT_NO_FATAL_FAILURE(expect_same(b, INT64_MAX, b)) << b;
  }
}

TEST_F(Constants, IdsAndTimesOfAnyLengthAreWrittenRight) {
  constexpr std::uint64_t kIds[] = {1,          95,          9'995,          99'995,    9'999'995,
                                    99'999'995, 199'999'995, 10'000'000'000, ~0ull - 40};
  constexpr std::uint64_t kTimes[] = {0, 99'999'995'000, 199'999'995'000, 8'999'999'995'000, kStart, 99'999'995'000};
  for (const std::uint64_t id : kIds) {
    for (const std::uint64_t time : kTimes) {
      encoder_.take_back_id(id), general_.take_back_id(id);
      for (std::uint64_t i = 0; i < 30; ++i) {
        begin_ = time + 500 * i;
        ASSERT_NO_FATAL_FAILURE(expect_same(i, 7, i)) << id << ' ' << time << ' ' << i;
      }
    }
  }
}

TEST_F(Constants, ARunOfRecordsHasTheSameLines) {
  std::string records;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    begin_ = kStart + 100 * i + (i == 1500 ? 200'000'000'000 : 0);
    const std::uint32_t lane = i % 700 == 699 ? 8 : 9;  // of which no line is kept
    const RecordBuilder record = by_constants(i * 31, static_cast<std::int64_t>(i % 800), i % 13, lane);
    records.append(reinterpret_cast<const char*>(&record.get()), record.get().size);
    ASSERT_TRUE(
        general_.encode(by_values(i * 31, static_cast<std::int64_t>(i % 800), i % 13, lane).get(), 5, expected_));
  }
  unsigned runs = 0;
  for (std::size_t at = 0; at < records.size();) {
    const auto run = encoder_.encode_run(&records[at], records.size() - at, out_.size() + 10'000, out_);
    runs += run.lines > 1 ? 1 : 0;
    ASSERT_LE(run.lines, 60u);  // it stops where it was told to
    at += run.bytes;
    if (run.lines != 0) continue;
    const auto& record = *reinterpret_cast<const model::RecordHeader*>(&records[at]);
    ASSERT_TRUE(encoder_.encode(record, 5, out_));
    at += record.size;
  }
  ASSERT_EQ(out_.view(), expected_.view());
  EXPECT_GT(runs, 30u);
  EXPECT_EQ(encoder_.next_id(), general_.next_id());
  EXPECT_EQ(encoder_.stats().lines, general_.stats().lines);
  EXPECT_EQ(encoder_.stats().events, general_.stats().events);
  EXPECT_EQ(encoder_.stats().ts_min, general_.stats().ts_min);
  EXPECT_EQ(encoder_.stats().ts_max, general_.stats().ts_max);
  EXPECT_EQ(encoder_.stats().layers, general_.stats().layers);
  EXPECT_EQ(encoder_.used_layers(), general_.used_layers());
}

TEST_F(Constants, RowsOfOneSchemaDoNotMix) {
  for (int i = 0; i < 20; ++i) {
    const std::uint32_t lane = i % 3 == 0 ? 17 : 1 + i % 2;
    ASSERT_NO_FATAL_FAILURE(expect_same(7, 7, 7, lane, 5)) << i;
    ASSERT_NO_FATAL_FAILURE(expect_same(7, 7, 7, 0, 1 + i % 4)) << i;  // on the row of its thread
  }
}

TEST_F(Constants, SitesOfOneSchemaDoNotMix) {
  const model::SiteId one = site_;
  const model::SiteId other = definitions_.add_site("other \"kernel\"", "CUDA_KERNEL", model::Layer::kCuda);
  for (std::uint64_t i = 0; i < 20; ++i) {
    site_ = i % 3 == 1 ? other : one;
    ASSERT_NO_FATAL_FAILURE(expect_same(i, 7, 7)) << i;
  }
}

TEST_F(Constants, AnEndBeforeItsBeginIsCounted) {
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_NO_FATAL_FAILURE(expect_same(i, 1, 2));
  RecordBuilder record = by_constants(1, 2, 3);
  record.header().end = record.header().begin - 1;
  out_.clear();
  ASSERT_TRUE(encoder_.encode(record.get(), 5, out_));
  EXPECT_NE(out_.view().find("\"dur\":0,"), std::string_view::npos) << out_.view();
  EXPECT_EQ(encoder_.reversed_records(), 1u);
}

TEST_F(Constants, AfterALostBlockTheStringIsDefinedAnew) {
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_NO_FATAL_FAILURE(expect_same(i, 1, 2));
  encoder_.forget_defined_strings();
  out_.clear();
  ASSERT_TRUE(encoder_.encode(by_constants(9, 1, 2).get(), 9, out_));
  const auto lines = strict::lines_of(out_.view());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("\"name\":\"SH\""), std::string::npos) << lines[0];
}

TEST_F(Constants, ARecordThatDoesNotFitItsSchemaIsRefused) {
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_NO_FATAL_FAILURE(expect_same(i, 1, 2));
  RecordBuilder record = by_constants(1, 2, 3);
  record.value(4);
  EXPECT_FALSE(encoder_.encode(record.get(), 9, out_));
  record.header().size -= 16;
  EXPECT_FALSE(encoder_.encode(record.get(), 9, out_));
}

TEST_F(Constants, OtherKindsOfRecordsHaveThemToo) {
  for (int i = 0; i < 3; ++i) {
    RecordBuilder instant = by_constants(1, 2, 3);
    instant.header().flags = static_cast<std::uint8_t>(instant.header().flags | model::kFlagInstant);
    RecordBuilder counter = by_constants(1, 2, 3);
    counter.header().kind = model::RecordKind::kCounter;
    out_.clear();
    ASSERT_TRUE(encoder_.encode(instant.get(), 9, out_) && encoder_.encode(counter.get(), 9, out_));
    const auto lines = strict::lines_of(out_.view());
    EXPECT_NE(lines[lines.size() - 2].find("\"instant\":1,\"a\":0,\"b\":1,"), std::string::npos);
    EXPECT_NE(lines.back().find("\"h\":3,\"i\":-9}}"), std::string::npos) << lines.back();
  }
}

TEST_F(Constants, WithoutMetadataTheyAreLeftOut) {
  EncoderOptions without = options();
  without.metadata = false;
  EventEncoder bare(definitions_, clock_, without);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(bare.encode(by_constants(1, 2, 3).get(), 9, out_));
  EXPECT_EQ(out_.view().find("\"a\""), std::string_view::npos);
}

TEST_F(Constants, AListThatIsNoneIsRefused) {
  for (const Field& bad : {Field{ArgType::kString, "x", true, 1}, Field{ArgType::kUint64, "hhash", true, 1},
                           Field{ArgType::kUint64, "a", true, 1}, Field{ArgType::kHash, "x", true, 1u << 30}}) {
    std::vector<Field> list = fields(symbol_, true);
    list.push_back(bad);
    RecordBuilder record = by_constants(1, 2, 3);
    record.header().schema = add(list);
    EXPECT_FALSE(encoder_.encode(record.get(), 9, out_)) << bad.key;
  }
}

}  // namespace
}  // namespace dft::encode
