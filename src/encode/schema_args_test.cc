// SPDX-License-Identifier: MIT
// Records with a schema: values only, keys from the schema.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "encode/event_encoder.h"
#include "encode/record_for_test.h"
#include "encode/strict_json_for_test.h"

namespace dft::encode {
namespace {

using model::ArgType;

class SchemaArgs : public testing::Test {
 protected:
  static std::string fields(std::initializer_list<std::pair<ArgType, std::string_view>> list) {
    std::string made;
    for (const auto& [type, key] : list) {
      const std::size_t at = made.size();
      made.resize(at + model::arg_size(key.size(), 0));
      model::put_arg(made.data() + at, type, key, nullptr, 0);
    }
    return made;
  }
  model::SchemaId schema(std::initializer_list<std::pair<ArgType, std::string_view>> list) {
    return definitions_.add_schema(fields(list));
  }
  RecordBuilder event(model::SchemaId schema) {
    RecordBuilder made(model::RecordKind::kEvent, site_, 5000, 7000);
    made.header().schema = schema;
    return made;
  }
  bool encode(const RecordBuilder& record) { return encoder_.encode(record.get(), 9, out_); }
  // The args object of the last line, without hhash.
  std::string args() const {
    const auto lines = strict::lines_of(out_.view());
    strict::parse(lines.back());
    const std::string& line = lines.back();
    const std::string head = "\"args\":{\"hhash\":\"0000000000000000\"";
    const std::size_t at = line.find(head);
    if (at == std::string::npos) return {};
    const std::string rest = line.substr(at + head.size());
    return rest.substr(0, rest.size() - 2);
  }

  FakeDefinitions definitions_;
  model::SiteId site_ = definitions_.add_site("read", "POSIX", model::Layer::kCppApp);
  base::ClockMap clock_;
  EventEncoder encoder_{definitions_, clock_, EncoderOptions{}};
  base::Buffer out_;
};

TEST_F(SchemaArgs, EachTypeIsWrittenUnderItsKey) {
  const auto file = definitions_.add_string(model::StringKind::kFile, "/tmp/a");
  const auto id = schema({{ArgType::kInt64, "count"},
                          {ArgType::kUint64, "a_key_of_more_than_sixteen_bytes"},
                          {ArgType::kDouble, "d"},
                          {ArgType::kBool, "yes"},
                          {ArgType::kString, "text"},
                          {ArgType::kHash, "fhash"},
                          {ArgType::kJson, "j"}});
  RecordBuilder record = event(id);
  record.value(static_cast<std::uint64_t>(-5)).value(~std::uint64_t{0}).value(0x3fe0000000000000ull).value(1);
  record.text("a\"b").value(file).text("[1]");
  ASSERT_TRUE(encode(record));
  EXPECT_EQ(args(),
            ",\"count\":-5,\"a_key_of_more_than_sixteen_bytes\":18446744073709551615,\"d\":0.5,\"yes\":1,"
            "\"text\":\"a\\\"b\",\"fhash\":\"" +
                std::string(base::string_hash("/tmp/a").view()) + "\",\"j\":[1]");
}

TEST_F(SchemaArgs, TheHashRecordComesFirst) {
  const auto file = definitions_.add_string(model::StringKind::kFile, "/tmp/a");
  const auto id = schema({{ArgType::kHash, "fhash"}});
  RecordBuilder record = event(id);
  record.value(file);
  ASSERT_TRUE(encode(record));
  const auto lines = strict::lines_of(out_.view());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("\"name\":\"FH\""), std::string::npos);
}

TEST_F(SchemaArgs, AnAbsentHashLeavesItsKeyOut) {
  RecordBuilder record = event(schema({{ArgType::kHash, "fhash"}, {ArgType::kInt64, "ret"}}));
  record.value(0).value(3);
  ASSERT_TRUE(encode(record));
  EXPECT_EQ(args(), ",\"ret\":3");
}

TEST_F(SchemaArgs, LongTextsFit) {
  RecordBuilder record = event(schema({{ArgType::kString, "s"}, {ArgType::kString, "t"}}));
  const std::string control(100'000, '\x01'), plain(100'000, 'x');
  record.text(control).text(plain);
  ASSERT_TRUE(encode(record));
  EXPECT_EQ(args().size(), std::string_view(",\"s\":\"\",\"t\":\"\"").size() + 7 * 100'000);
}

TEST_F(SchemaArgs, ARecordThatDoesNotFitItsSchemaLeavesNoTrace) {
  const auto ints = schema({{ArgType::kInt64, "a"}, {ArgType::kInt64, "b"}});
  const auto text = schema({{ArgType::kString, "s"}});
  std::vector<RecordBuilder> bad;
  bad.push_back(event(ints)), bad.back().value(1);
  bad.push_back(event(ints)), bad.back().value(1).value(2).value(3);
  bad.push_back(event(ints));
  bad.push_back(event(text)), bad.back().value(9).value(0);         // one byte more than there is
  bad.push_back(event(text)), bad.back().value(~std::uint64_t{0});  // wraps around when padded
  bad.push_back(event(text)), bad.back().value(~std::uint64_t{7}).value(0);
  bad.push_back(event(4711)), bad.back().value(1);
  bad.push_back(event(model::kMaxSchemaId + 1)), bad.back().value(1);
  for (std::size_t i = 0; i < bad.size(); ++i) {
    EXPECT_FALSE(encode(bad[i])) << i;
    EXPECT_TRUE(out_.empty()) << i;
  }
}

TEST_F(SchemaArgs, ASchemaThatWeNeverMakeIsRefused) {
  std::vector<std::string> odd = {
      "",
      "12345678",
      fields({{ArgType::kInt64, "quote\""}}),
      fields({{ArgType::kInt64, "hhash"}}),
      fields({{ArgType::kInt64, "\xff"}}),
      fields({{ArgType::kInt64, ""}}),
      fields({{ArgType::kInt64, std::string(65, 'k')}}),
      fields({{ArgType::kInt64, "twice"}, {ArgType::kDouble, "twice"}}),
      fields({{ArgType::kRelation, "r"}}),
      fields({{static_cast<ArgType>(0), "zero"}}),
      fields({{ArgType::kDropped, "gone"}}),
  };
  std::string many;
  for (int i = 0; i < 33; ++i) many += fields({{ArgType::kInt64, "k" + std::to_string(i)}});
  odd.push_back(many);
  for (std::size_t i = 0; i < odd.size(); ++i) {
    RecordBuilder record = event(definitions_.add_schema(odd[i]));
    record.value(1);
    EXPECT_FALSE(encode(record)) << i;
    EXPECT_TRUE(out_.empty()) << i;
  }
}

}  // namespace
}  // namespace dft::encode
