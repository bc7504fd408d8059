// SPDX-License-Identifier: MIT
#include "encode/event_encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "encode/record_for_test.h"
#include "encode/strict_json_for_test.h"

namespace dft::encode {
namespace {

using model::Layer;
using model::RecordKind;
using model::StringKind;
using Strings = std::vector<std::string>;

constexpr char kHost[] = "6882804a826580cd";

EncoderOptions options_with(bool metadata = true, bool tids = true, model::TimeMetric metric = model::TimeMetric::kUs) {
  EncoderOptions out;
  out.pid = 4242;
  std::memcpy(out.host_hash, kHost, 16);
  out.metadata = metadata;
  out.include_tids = tids;
  out.time_metric = metric;
  return out;
}

class EventEncoderTest : public testing::Test {
 protected:
  void use(const EncoderOptions& options) { encoder_.emplace(definitions_, *clock_, options); }
  EventEncoder& encoder() {
    if (!encoder_) use(options_with());
    return *encoder_;
  }
  bool encode(const RecordBuilder& record, std::int32_t tid = 4243) {
    return encoder().encode(record.get(), tid, out_);
  }
  Strings lines() const { return strict::lines_of(out_.view()); }
  strict::Value only() const {
    EXPECT_EQ(lines().size(), 1u) << out_.view();
    return strict::parse(lines().at(0));
  }
  strict::Value args_of(const RecordBuilder& record) {
    out_.clear();
    EXPECT_TRUE(encode(record));
    return only()["args"];
  }
  RecordBuilder event(std::uint8_t flags = model::kFlagNanoseconds) {
    return RecordBuilder(RecordKind::kEvent, foo_, 1795959606741759123, 1795959606742145456, flags);
  }

  FakeDefinitions definitions_;
  std::unique_ptr<base::ClockMap> clock_ = std::make_unique<base::ClockMap>();
  std::optional<EventEncoder> encoder_;
  base::Buffer out_;
  model::SiteId foo_ = definitions_.add_site("foo", "CPP_APP", Layer::kCppApp);
};

// ---- the lines themselves -------------------------------------------------------------------------------------------

TEST_F(EventEncoderTest, EveryKindOfRecordMatchesItsGoldenLine) {
  const auto file = definitions_.add_string(StringKind::kFile, "/data/a \"quoted\" file.npz");
  const auto odd = definitions_.add_string(StringKind::kFile, "/data/\xff");
  const auto cpu = definitions_.add_site("cpu", "sys", Layer::kPsutil);
  const auto cm = definitions_.add_site("CM", "CPP_APP", Layer::kCppApp);
  const auto lane = definitions_.add_site("thread_name", "dftracer", Layer::kCuda);
  EventEncoder& e = encoder();
  e.define_string(StringKind::kHost, "vm", 4242, out_);
  e.metadata("CM", 4242, R"("name":"time_metric","value":"US")", out_);
  e.metadata("loss", 4242, "", out_);
  e.define_string(StringKind::kString, "/bin/prog;--size;4", 4242, out_);
  e.life_cycle_event("start", 4242, 1795959606740002999, R"("ppid":1)", out_);
  EXPECT_TRUE(encode(event()));
  EXPECT_TRUE(encode(event().string("file", "x.npz").int64("step", -1).uint64("bytes", ~0ull).real("loss", 0.5)));
  EXPECT_TRUE(
      encode(event().boolean("ok", true).boolean("bad", false).json("list", "[1,2]").real("nan", std::nan(""))));
  EXPECT_TRUE(encode(event().hash("fhash", file).int64("ret", 4096)));
  EXPECT_TRUE(encode(event().hash("fhash", odd).hash("newpath_hash", file)));
  EXPECT_TRUE(encode(event(model::kFlagNanoseconds | model::kFlagInstant)));
  EXPECT_TRUE(encode(event(model::kFlagNanoseconds | model::kFlagOpenAtEnd).int64("k", 1)));
  EXPECT_TRUE(encode(event()
                         .relation("used", 0x8f0de68c04eea0bf)
                         .int64("n", 2)
                         .relation("generated", 1)
                         .relation("used", 2)
                         .relation("used", 0x8f0de68c04eea0bf)));
  EXPECT_TRUE(encode(event().lane((1u << 30) + 1), 4243));
  EXPECT_TRUE(encode(RecordBuilder(RecordKind::kCounter, cpu, 1795959606743000000).real("user_pct", 20.467), 0));
  EXPECT_TRUE(encode(RecordBuilder(RecordKind::kMetadata, cm).string("name", "key1").string("value", "value1")));
  EXPECT_TRUE(encode(RecordBuilder(RecordKind::kMetadata, lane)
                         .string("name", "GPU 0 stream 7")
                         .string("value", "thread_name")
                         .lane((1u << 30) + 1)));
  e.life_cycle_event("end", 4242, 1795959606751094000, R"("num_events":11,"app":{})", out_);

  const std::string path = std::string(DFT_GOLDEN_DIR) + "/encode/records.jsonl";
  if (std::getenv("DFT_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << out_.view();
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  const Strings expected = strict::lines_of(golden.str()), written = lines();
  ASSERT_EQ(written.size(), expected.size());
  for (std::size_t i = 0; i < written.size(); ++i) EXPECT_EQ(written[i], expected[i]);
  for (const std::string& line : written) EXPECT_NO_THROW(strict::parse(line));
}

TEST_F(EventEncoderTest, KeysStandInTheFormatsOrder) {
  ASSERT_TRUE(encode(event().int64("a", 1)));
  EXPECT_EQ(only().keys(), (Strings{"id", "name", "cat", "type", "pid", "tid", "ts", "dur", "ph", "args"}));
  EXPECT_EQ(only()["args"].keys(), (Strings{"hhash", "a"}));
  out_.clear();
  ASSERT_TRUE(encode(RecordBuilder(RecordKind::kCounter, foo_, 5).int64("a", 1)));
  EXPECT_EQ(only().keys(), (Strings{"name", "cat", "type", "ts", "ph", "pid", "tid", "args"}));
  out_.clear();
  ASSERT_TRUE(encode(RecordBuilder(RecordKind::kMetadata, foo_).int64("a", 1)));
  EXPECT_EQ(only().keys(), (Strings{"name", "cat", "type", "pid", "tid", "ph", "args"}));
  EXPECT_EQ(only()["cat"].text, "dftracer");
}

TEST_F(EventEncoderTest, AnEventWithNothingToReportHasNoArgs) {
  ASSERT_TRUE(encode(event()));
  EXPECT_EQ(only().find("args"), nullptr);
  out_.clear();
  const std::uint64_t gone = 1;
  ASSERT_TRUE(encode(event().arg(model::ArgType::kDropped, "k", &gone, 8).hash("fhash", 0)));
  EXPECT_EQ(only().find("args"), nullptr);
  out_.clear();
  ASSERT_TRUE(encode(RecordBuilder(RecordKind::kMetadata, foo_)));
  EXPECT_EQ(only()["args"].keys(), Strings{"hhash"});
}

TEST_F(EventEncoderTest, ACallWithoutArgsNamesItsHostUnlessMetadataIsOff) {
  RecordBuilder call = event();
  call.header().schema = model::kSelfDescribing;
  ASSERT_TRUE(encode(call));
  EXPECT_EQ(only()["args"].keys(), Strings{"hhash"});
  use(options_with(false));
  out_.clear();
  ASSERT_TRUE(encode(call));
  EXPECT_EQ(only().find("args"), nullptr);
}

TEST_F(EventEncoderTest, ADroppedArgIsNotWritten) {
  const auto args = args_of(event().arg(model::ArgType::kDropped, "k", "old", 3).string("k", "new").int64("z", 1));
  EXPECT_EQ(args.keys(), (Strings{"hhash", "k", "z"}));
  EXPECT_EQ(args["k"].text, "new");
}

TEST_F(EventEncoderTest, SixtyFourBitsAreKept) {
  const auto args = args_of(event()
                                .int64("min", std::numeric_limits<std::int64_t>::min())
                                .int64("max", std::numeric_limits<std::int64_t>::max())
                                .uint64("all", ~std::uint64_t{0}));
  EXPECT_EQ(args["min"].text, "-9223372036854775808");
  EXPECT_EQ(args["max"].text, "9223372036854775807");
  EXPECT_EQ(args["all"].text, "18446744073709551615");
  EncoderOptions options = options_with();
  options.first_id = 0xffffffffffull;
  use(options);
  out_.clear();
  ASSERT_TRUE(encode(RecordBuilder(RecordKind::kEvent, foo_, 0, ~std::uint64_t{0})));
  EXPECT_EQ(only()["id"].as_uint(), 0xffffffffffull);
  EXPECT_EQ(only()["dur"].as_uint(), ~std::uint64_t{0} / 1000);
}

TEST_F(EventEncoderTest, NamesOfEverySizeAndContentAreWhole) {
  for (const std::string& name :
       {std::string(64 * 1024, 'n'), std::string("a\"b\\c\n\x01{}[]()|'"), std::string("a\0b", 3), std::string(),
        std::string(5 << 20, '\\'), std::string("\xe6\xbc\xa2")}) {
    out_.clear();
    const auto site = definitions_.add_site(name, name, Layer::kCApp);
    ASSERT_TRUE(encode(RecordBuilder(RecordKind::kEvent, site).string("value", name)));
    const auto line = only();
    EXPECT_TRUE(line["name"].text == name);
    EXPECT_TRUE(line["cat"].text == name);
    EXPECT_TRUE(line["args"]["value"].text == name);
    EXPECT_EQ(line["type"].as_uint(), 2u);
  }
}

TEST_F(EventEncoderTest, KeysAndStringsOfEveryLengthBesideTheirPadding) {
  for (std::size_t n = 0; n < 40; ++n) {
    const std::string key(n, 'k'), value(n, '"');
    const auto args = args_of(event().string(key, value).string("w" + key, std::string(n, 'v')));
    EXPECT_EQ(args[key].text, value);
    EXPECT_EQ(args["w" + key].text, std::string(n, 'v'));
  }
}

// ---- reserved and odd keys ------------------------------------------------------------------------------------------

TEST_F(EventEncoderTest, KeysOfTheFormatAreNotWrittenTwice) {
  const auto args = args_of(event(model::kFlagNanoseconds | model::kFlagInstant | model::kFlagOpenAtEnd)
                                .int64("hhash", 1)
                                .int64("instant", 2)
                                .int64("open_at_end", 3)
                                .int64("relations", 4)
                                .int64("exception", 5)
                                .relation("used", 7));
  EXPECT_EQ(args.keys(), (Strings{"hhash", "instant", "open_at_end", "hhash_", "instant_", "open_at_end_", "relations_",
                                  "exception", "relations"}));
  EXPECT_EQ(args["hhash"].text, kHost);
  EXPECT_EQ(args["hhash_"].text, "1");
}

TEST_F(EventEncoderTest, ARenamedKeyDoesNotMeetAnother) {
  const auto args = args_of(event().int64("hhash_", 1).int64("hhash", 2).int64("hhash__", 3));
  EXPECT_EQ(args.keys(), (Strings{"hhash", "hhash_", "hhash___", "hhash__"}));
  EXPECT_EQ(args["hhash___"].text, "2");
}

TEST_F(EventEncoderTest, KeysThatDifferOnlyInInvalidBytesStayApart) {
  const auto one = args_of(event().int64("a\xff", 1));
  EXPECT_EQ(one.keys(), (Strings{"hhash", "a\xef\xbf\xbd"}));
  const auto three = args_of(event().int64("a\xff", 1).int64("a\xfe", 2).int64("a\xef\xbf\xbd", 3));
  EXPECT_EQ(three.members.size(), 4u);  // parse() refuses a key twice
}

TEST_F(EventEncoderTest, KeysOfEarlierLinesAreNotMistaken) {
  // Each meets what the lines before left behind: the same word with another type, length, or record around it.
  const auto expect_keys = [this](const RecordBuilder& record, const Strings& keys) {
    EXPECT_EQ(args_of(record).keys(), keys);
  };
  for (int round = 0; round < 2; ++round) {
    expect_keys(event().int64("step", 1).real("step_", 0.5), {"hhash", "step", "step_"});
    expect_keys(event().string("step", "text").int64("ste", 2), {"hhash", "step", "ste"});
    expect_keys(event().relation("step", 1), {"hhash", "relations"});
    expect_keys(event().arg(model::ArgType::kDropped, "step", "gone", 4).int64("x", 1), {"hhash", "x"});
    expect_keys(event().hash("step", 0).boolean("step_", true), {"hhash", "step_"});
    expect_keys(event().int64(std::string_view("step\0", 5), 1), {"hhash", std::string("step\0", 5)});
    expect_keys(event().int64("hhash", 1), {"hhash", "hhash_"});
    expect_keys(event().int64("hhash", 1).int64("hhash_", 2), {"hhash", "hhash__", "hhash_"});
    expect_keys(event().int64("a\xff", 1), {"hhash", "a\xef\xbf\xbd"});
    expect_keys(event().int64("a\xff", 1).int64("a\xfe", 1), {"hhash", "a\xef\xbf\xbd_0", "a\xef\xbf\xbd_1"});
  }
}

TEST_F(EventEncoderTest, TimesAreExactWhateverLineCameBefore) {
  use(options_with(true, true, model::TimeMetric::kNs));
  std::vector<std::uint64_t> times = {0, 1, 9'999, 10'000, 10'001, 99'999'999, 100'000'000, 100'009'999, 100'010'000};
  for (std::uint64_t t = 1; t < 1'000'000'000'000'000'000; t *= 10) times.insert(times.end(), {t - 1, t, 7 * t + 3});
  times.push_back(~std::uint64_t{0});
  const std::size_t count = times.size();
  for (std::size_t i = 0; i < count; ++i) times.push_back(times[i * 37 % count]);  // from any to any
  for (const std::uint64_t time : times) {
    out_.clear();
    ASSERT_TRUE(encode(RecordBuilder(RecordKind::kEvent, foo_, time, time)));
    EXPECT_EQ(only()["ts"].text, std::to_string(time));
  }
}

// ---- hashes ---------------------------------------------------------------------------------------------------------

TEST_F(EventEncoderTest, AHashIsDefinedOnceAndBeforeItsFirstUse) {
  const auto a = definitions_.add_string(StringKind::kFile, "/tmp/a");
  const auto same_bytes = definitions_.add_string(StringKind::kString, "/tmp/a");
  ASSERT_TRUE(encode(event().hash("fhash", a).hash("again_hash", a)));
  ASSERT_TRUE(encode(event().hash("fhash", a)));
  ASSERT_TRUE(encode(event().hash("cmd_hash", same_bytes)));
  const Strings written = lines();
  ASSERT_EQ(written.size(), 5u);
  const auto record = strict::parse(written[0]);
  EXPECT_EQ(record["name"].text, "FH");
  EXPECT_EQ(record["args"].keys(), (Strings{"hhash", "name", "value"}));
  EXPECT_EQ(record["args"]["name"].text, "/tmp/a");
  EXPECT_EQ(record["args"]["value"].text, "4a40025765d5119b");
  EXPECT_EQ(strict::parse(written[1])["args"]["fhash"].text, "4a40025765d5119b");
  EXPECT_EQ(strict::parse(written[3])["name"].text, "SH");
  EXPECT_EQ(encoder().define_string(StringKind::kFile, "/tmp/a", 1, out_).view(), "4a40025765d5119b");
  EXPECT_EQ(lines().size(), 5u);
}

TEST_F(EventEncoderTest, ThousandsOfStringsStayDefined) {
  std::vector<model::StringId> ids;
  for (int i = 0; i < 30000; ++i) {
    ids.push_back(definitions_.add_string(StringKind::kFile, "/data/" + std::to_string(i)));
  }
  for (int round = 0; round < 2; ++round) {
    for (const auto id : ids) ASSERT_TRUE(encode(event().hash("fhash", id)));
  }
  // Ids that share a place in the cache, in one record.
  ASSERT_TRUE(encode(event().hash("a_hash", ids[0]).hash("b_hash", ids[8192]).hash("c_hash", ids[16384])));
  std::set<std::string> defined;
  std::size_t definitions = 0;
  for (const std::string& line : lines()) {
    const auto record = strict::parse(line);
    if (record["name"].text == "FH") {
      ++definitions;
      defined.insert(record["args"]["value"].text);
    } else {
      for (const auto& [key, value] : record["args"].members) {
        if (key != "hhash") {
          ASSERT_EQ(defined.count(value.text), 1u);
        }
      }
    }
  }
  EXPECT_EQ(definitions, 30000u);
}

TEST_F(EventEncoderTest, ForgottenStringsAreDefinedAnew) {
  const auto a = definitions_.add_string(StringKind::kFile, "/tmp/a");
  ASSERT_TRUE(encode(event().hash("fhash", a)));
  encoder().forget_defined_strings();
  out_.clear();
  ASSERT_TRUE(encode(event().hash("fhash", a)));
  EXPECT_EQ(lines().size(), 2u);
}

TEST_F(EventEncoderTest, AForkChildStartsWithoutItsParentsCaches) {
  const auto a = definitions_.add_string(StringKind::kFile, "/tmp/a");
  ASSERT_TRUE(encode(event().hash("fhash", a)));
  encoder().forget();
  out_.clear();
  ASSERT_TRUE(encode(event().hash("fhash", a)));
  EXPECT_EQ(lines().size(), 2u);
  EXPECT_EQ(strict::parse(lines()[1])["name"].text, "foo");
}

TEST_F(EventEncoderTest, APathThatIsNotUtf8KeepsItsBytes) {
  const std::string path = "/d\xff/\xed\xa0\x80\"";
  encoder().define_string(StringKind::kFile, path, 1, out_);
  const auto args = only()["args"];
  EXPECT_EQ(args["name"].text, "/d\xef\xbf\xbd/\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(args["raw_hex"].text, "2f64ff2feda08022");
  EXPECT_EQ(args["value"].text, base::string_hash(path).view());
}

TEST_F(EventEncoderTest, ASpoiledHashIsMadeAnew) {
  const auto a = definitions_.add_string(StringKind::kFile, "/tmp/a");
  definitions_.spoil_hash(a);
  ASSERT_TRUE(encode(event().hash("fhash", a)));
  EXPECT_EQ(strict::parse(lines()[1])["args"]["fhash"].text, "4a40025765d5119b");
  EncoderOptions options = options_with();
  std::memcpy(options.host_hash, "\"}{\"............", 16);
  use(options);
  EXPECT_EQ(args_of(event().int64("k", 1))["hhash"].text, "0000000000000000");
}

// ---- switches -------------------------------------------------------------------------------------------------------

TEST_F(EventEncoderTest, WithoutMetadataOnlyRelationsAreLeft) {
  const auto file = definitions_.add_string(StringKind::kFile, "/tmp/a");
  use(options_with(false));
  ASSERT_TRUE(encode(event(model::kFlagNanoseconds | model::kFlagInstant).int64("k", 1).hash("fhash", file)));
  EXPECT_EQ(only().find("args"), nullptr);
  out_.clear();
  ASSERT_TRUE(encode(event().int64("k", 1).relation("generated", 255)));
  EXPECT_EQ(lines()[0].substr(lines()[0].find(",\"args\"")),
            R"(,"args":{"hhash":"6882804a826580cd","relations":{"generated":["00000000000000ff"]}}})");
  out_.clear();
  encoder().life_cycle_event("end", 1, 0, R"("cfg":{})", out_);
  EXPECT_EQ(only()["args"].keys(), (Strings{"hhash", "cfg"}));
  out_.clear();
  ASSERT_TRUE(encode(RecordBuilder(RecordKind::kMetadata, foo_).string("name", "k")));
  EXPECT_EQ(only()["args"].keys(), (Strings{"hhash", "name"}));
}

TEST_F(EventEncoderTest, WithoutTidsOnlyLanesAreLeft) {
  use(options_with(true, false));
  ASSERT_TRUE(encode(event(), 99));
  ASSERT_TRUE(encode(event().lane(99), 99));
  ASSERT_TRUE(encode(event().lane((1u << 30) + 5), 99));
  encoder().metadata("CM", 99, "", out_);
  std::string tids;
  for (const std::string& line : lines()) tids += strict::parse(line)["tid"].text + " ";
  EXPECT_EQ(tids, "0 0 1073741829 0 ");
}

TEST_F(EventEncoderTest, TidsFollowTheirRecords) {
  for (const std::int32_t tid : {1, 1, 4194304, 2, -1, 0}) ASSERT_TRUE(encode(event(), tid));
  ASSERT_TRUE(encode(event().lane(77), 1));
  std::string tids;
  for (const std::string& line : lines()) tids += strict::parse(line)["tid"].text + " ";
  EXPECT_EQ(tids, "1 1 4194304 2 -1 0 77 ");
}

// ---- relations ------------------------------------------------------------------------------------------------------

TEST_F(EventEncoderTest, RelationsKeepOrderAndDoubles) {
  const auto args = args_of(event()
                                .relation("used", 3)
                                .relation("generated", 9)
                                .int64("n", 1)
                                .relation("used", 1)
                                .relation("used", 3)
                                .relation("invalidated", 0));
  EXPECT_EQ(args.keys(), (Strings{"hhash", "n", "relations"}));
  EXPECT_EQ(args["relations"].keys(), (Strings{"used", "generated", "invalidated"}));
  Strings used;
  for (const auto& entity : args["relations"]["used"].items) used.push_back(entity.text);
  EXPECT_EQ(used, (Strings{"0000000000000003", "0000000000000001", "0000000000000003"}));
}

// ---- time -----------------------------------------------------------------------------------------------------------

TEST_F(EventEncoderTest, UnitsAreFlooredAtBothEnds) {
  const std::map<model::TimeMetric, std::pair<std::uint64_t, std::uint64_t>> expected = {
      {model::TimeMetric::kNs, {1999999999, 1000000002}},
      {model::TimeMetric::kUs, {1999999, 1000001}},
      {model::TimeMetric::kMs, {1999, 1001}},
      {model::TimeMetric::kSec, {1, 2}}};
  for (const auto& [metric, times] : expected) {
    use(options_with(true, true, metric));
    out_.clear();
    ASSERT_TRUE(encode(RecordBuilder(RecordKind::kEvent, foo_, 1999999999, 3000000001)));
    EXPECT_EQ(only()["ts"].as_uint(), times.first);
    EXPECT_EQ(only()["dur"].as_uint(), times.second);
  }
}

TEST_F(EventEncoderTest, IntervalsNestInEveryUnitAfterRounding) {
  std::mt19937_64 random(5);
  for (const auto metric :
       {model::TimeMetric::kNs, model::TimeMetric::kUs, model::TimeMetric::kMs, model::TimeMetric::kSec}) {
    // A map with bends: rates change from knot to knot, the line stays continuous.
    std::vector<base::ClockKnot> knots;
    base::ClockKnot knot{1000, 1795959606740002999, 0.37};
    for (int i = 0; i < 30; ++i) {
      knots.push_back(knot);
      const std::uint64_t step = 1'000'000 + random() % 100'000'000;
      knot.trace_ns += static_cast<std::uint64_t>(static_cast<double>(step) * knot.ns_per_tick);
      knot.ticks += step;
      knot.ns_per_tick = 0.3 + static_cast<double>(random() % 1000) / 5000;
    }
    clock_->restore(knots.data(), knots.size());
    use(options_with(true, true, metric));
    for (int round = 0; round < 400; ++round) {
      // A stack of five intervals, each within the one before; often close together.
      std::uint64_t begin = 1000 + random() % knot.ticks, end = begin + (random() >> (20 + random() % 44));
      out_.clear();
      for (int depth = 0; depth < 5; ++depth) {
        ASSERT_TRUE(encode(RecordBuilder(RecordKind::kEvent, foo_, begin, end, 0)));
        const std::uint64_t room = end - begin;
        begin += room ? random() % (room + 1) % 5000 : 0;
        end -= end - begin ? random() % (end - begin + 1) % 5000 : 0;
      }
      std::uint64_t outer_begin = 0, outer_end = ~std::uint64_t{0};
      for (const std::string& line : lines()) {
        const auto record = strict::parse(line);
        const std::uint64_t ts = record["ts"].as_uint(), last = ts + record["dur"].as_uint();
        ASSERT_GE(ts, outer_begin) << line;
        ASSERT_LE(last, outer_end) << line;
        outer_begin = ts, outer_end = last;
      }
    }
  }
}

TEST_F(EventEncoderTest, AnEndBeforeItsBeginIsCountedAndHasNoDuration) {
  ASSERT_TRUE(encode(RecordBuilder(RecordKind::kEvent, foo_, 5000, 4000)));
  EXPECT_EQ(only()["ts"].as_uint(), 5u);
  EXPECT_EQ(only()["dur"].as_uint(), 0u);
  EXPECT_EQ(encoder().reversed_records(), 1u);
  ASSERT_TRUE(encode(RecordBuilder(RecordKind::kEvent, foo_, 5000, 5000)));
  EXPECT_EQ(encoder().reversed_records(), 1u);
}

TEST_F(EventEncoderTest, AnInstantHasNoDuration) {
  ASSERT_TRUE(encode(event(model::kFlagNanoseconds | model::kFlagInstant)));
  EXPECT_EQ(only()["dur"].as_uint(), 0u);
  EXPECT_EQ(only()["args"]["instant"].text, "1");
}

// ---- counts ---------------------------------------------------------------------------------------------------------

TEST_F(EventEncoderTest, StatsDescribeTheLinesOfABlock) {
  const auto read = definitions_.add_site("read", "POSIX", Layer::kLibcIo);
  const auto file = definitions_.add_string(StringKind::kFile, "f");
  EventEncoder& e = encoder();
  e.life_cycle_event("start", 1, 10'000, "", out_);
  EXPECT_EQ(e.used_layers(), 0u);
  ASSERT_TRUE(encode(RecordBuilder(RecordKind::kEvent, read, 20'000, 90'000).hash("fhash", file)));
  ASSERT_TRUE(encode(RecordBuilder(RecordKind::kCounter, foo_, 50'000)));
  ASSERT_TRUE(encode(RecordBuilder(RecordKind::kMetadata, foo_)));
  EXPECT_EQ(e.stats().lines, lines().size());
  EXPECT_EQ(e.stats().lines, 5u);
  EXPECT_EQ(e.stats().events, 3u);
  EXPECT_EQ(e.stats().ts_min, 10u);
  EXPECT_EQ(e.stats().ts_max, 90u);
  EXPECT_EQ(e.stats().layers, 1u << 1 | 1u << 3 | 1u << 9);
  EXPECT_EQ(e.used_layers(), 1u << 3 | 1u << 9);
  EXPECT_EQ(e.next_id(), 3u);
  e.stats().reset();
  EXPECT_EQ(e.stats().lines, 0u);
  EXPECT_EQ(e.stats().ts_max, 0u);
}

TEST_F(EventEncoderTest, ManySitesAreRenderedRight) {
  std::vector<model::SiteId> sites;
  for (int i = 0; i < 40000; ++i) {
    sites.push_back(definitions_.add_site("site" + std::to_string(i) + std::string(200, '.'), "c", Layer::kCApp));
  }
  for (const std::size_t i : {0u, 16384u, 39999u}) ASSERT_TRUE(encode(RecordBuilder(RecordKind::kEvent, sites[i])));
  out_.clear();
  for (std::size_t i = 0; i < sites.size(); ++i) {
    ASSERT_TRUE(encode(RecordBuilder(RecordKind::kEvent, sites[i])));
    ASSERT_TRUE(encode(RecordBuilder(RecordKind::kEvent, sites[i / 2])));
  }
  const Strings written = lines();
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const auto name = [](std::size_t n) { return "\"site" + std::to_string(n) + "..."; };
    ASSERT_NE(written[2 * i].find(name(i)), std::string::npos);
    ASSERT_NE(written[2 * i + 1].find(name(i / 2)), std::string::npos);
  }
}

// ---- what cannot be right -------------------------------------------------------------------------------------------

TEST_F(EventEncoderTest, InconsistentRecordsLeaveNoTrace) {
  const auto a = definitions_.add_string(StringKind::kFile, "/tmp/a");
  const std::uint64_t one = 1;
  std::vector<RecordBuilder> bad;
  bad.push_back(event()), bad.back().header().site = 4711;
  bad.push_back(event()), bad.back().header().site = 0;
  bad.push_back(event()), bad.back().header().size = 24;
  bad.push_back(event().int64("k", 1)), bad.back().header().size -= 4;
  bad.push_back(event().int64("k", 1)), bad.back().header().size -= 8;
  bad.push_back(event().int64("k", 1)), bad.back().header().schema = model::kNoArgs;
  bad.push_back(event().int64("k", 1)), bad.back().header().schema = 1;
  bad.push_back(event().arg(model::ArgType::kInt64, "k", "0123456789abcdef", 16));
  bad.push_back(event()), bad.back().header().kind = static_cast<RecordKind>(0);
  bad.push_back(event()), bad.back().header().kind = static_cast<RecordKind>(200);
  bad.push_back(event().arg(static_cast<model::ArgType>(0), "k", &one, 8));
  bad.push_back(event().arg(static_cast<model::ArgType>(10), "k", &one, 8));
  bad.push_back(event().arg(model::ArgType::kInt64, "k", &one, 4));
  bad.push_back(event().arg(model::ArgType::kHash, "k", &one, 0));
  bad.push_back(event().hash("fhash", a).hash("x_hash", 4711));
  const std::uint64_t wide = std::uint64_t{1} << 32 | a;
  bad.push_back(event().arg(model::ArgType::kHash, "k", &wide, 8));
  bad.push_back(event().hash("fhash", a).json("j", "{\"a\":1"));
  bad.push_back(event().json("j", "1}\n{\"x\":2"));
  ASSERT_TRUE(encode(event()));
  const std::string before(out_.view());
  const BlockStats stats = encoder().stats();
  for (std::size_t i = 0; i < bad.size(); ++i) {
    EXPECT_FALSE(encode(bad[i])) << i;
    EXPECT_EQ(out_.view(), before) << i;
  }
  EXPECT_EQ(encoder().stats().lines, stats.lines);
  EXPECT_EQ(encoder().next_id(), 2u);
  // What a refused record had defined is defined again.
  ASSERT_TRUE(encode(event().hash("fhash", a)));
  EXPECT_EQ(lines().size(), 3u);
}

TEST_F(EventEncoderTest, ALargeRecordIsWhole) {
  RecordBuilder record = event();
  for (int i = 0; i < 5000; ++i) record.string("key" + std::to_string(i), i % 2 ? "\x01\x02\x03" : "plain text");
  record.string("big", std::string(1 << 20, '"'));
  const auto args = args_of(record);
  EXPECT_EQ(args.members.size(), 5002u);
  EXPECT_EQ(args["key4999"].text, "\x01\x02\x03");
  EXPECT_TRUE(args["big"].text == std::string(1 << 20, '"'));
}

}  // namespace
}  // namespace dft::encode
