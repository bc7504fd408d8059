// SPDX-License-Identifier: MIT
// Records of many fields, of which most stay the same: the same text as without any memory of them.
#include <gtest/gtest.h>

#include <string>

#include "encode/event_encoder.h"
#include "encode/record_for_test.h"
#include "encode/strict_json_for_test.h"

namespace dft::encode {
namespace {

using model::ArgType;

// a..h are integers, then a hash; g is signed.
class SteadyArgsText : public testing::Test {
 protected:
  SteadyArgsText() {
    std::string fields;
    for (const char* key : {"a", "b", "c", "d", "e", "f", "g", "h", "symbol_hash"}) {
      const std::string_view name(key);
      const ArgType type = name == "symbol_hash" ? ArgType::kHash : name == "g" ? ArgType::kInt64 : ArgType::kUint64;
      const std::size_t at = fields.size();
      fields.resize(at + model::arg_size(name.size(), 0));
      model::put_arg(fields.data() + at, type, name, nullptr, 0);
    }
    schema_ = definitions_.add_schema(fields);
  }
  bool encode(std::initializer_list<std::uint64_t> values, model::SiteId site) {
    RecordBuilder record(model::RecordKind::kEvent, site, 5000, 7000, model::kFlagNanoseconds | model::kFlagSteady);
    record.header().schema = schema_;
    for (const std::uint64_t value : values) record.value(value);
    return encoder_.encode(record.get(), 9, out_);
  }
  std::string args() const {
    const auto lines = strict::lines_of(out_.view());
    strict::parse(lines.back());
    const std::string& line = lines.back();
    const std::string head = "\"args\":{\"hhash\":\"0000000000000000\",";
    const std::size_t at = line.find(head) + head.size();
    return line.substr(at, line.size() - at - 2);
  }
  std::string expected(std::uint64_t b, std::int64_t g, std::uint64_t h, const std::string& symbol) const {
    const std::string digits(base::string_hash(symbol).view());
    return "\"a\":1,\"b\":" + std::to_string(b) + ",\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":" + std::to_string(g) +
           ",\"h\":" + std::to_string(h) + ",\"symbol_hash\":\"" + digits + "\"";
  }

  FakeDefinitions definitions_;
  model::SchemaId schema_ = 0;
  model::SiteId site_ = definitions_.add_site("kernel", "CUDA_KERNEL", model::Layer::kCuda);
  model::SiteId other_ = definitions_.add_site("other", "CUDA_KERNEL", model::Layer::kCuda);
  model::StringId symbol_ = definitions_.add_string(model::StringKind::kString, "_Zk");
  model::StringId symbol2_ = definitions_.add_string(model::StringKind::kString, "_Zother");
  base::ClockMap clock_;
  EventEncoder encoder_{definitions_, clock_, EncoderOptions{}};
  base::Buffer out_;
};

TEST_F(SteadyArgsText, EveryChangeIsSeenWhateverWasSteadyBefore) {
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::uint64_t h = i < 20 ? 8 : 8000000000 + i;  // steady for long, then not
    const std::int64_t g = i % 2 == 0 ? -7 : 7;
    ASSERT_TRUE(encode({1, i * 1000, 3, 4, 5, 6, static_cast<std::uint64_t>(g), h, symbol_}, site_));
    EXPECT_EQ(args(), expected(i * 1000, g, h, "_Zk")) << i;
  }
}

TEST_F(SteadyArgsText, CallSitesDoNotMix) {
  for (std::uint64_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(encode({1, i, 3, 4, 5, 6, 7, 8, symbol_}, site_));
    EXPECT_EQ(args(), expected(i, 7, 8, "_Zk"));
    ASSERT_TRUE(encode({1, 2, 3, 4, 5, 6, 7, i, symbol2_}, other_));
    EXPECT_EQ(args(), expected(2, 7, i, "_Zother"));
  }
}

TEST_F(SteadyArgsText, AHashThatChangesOrIsMissingIsWrittenRight) {
  for (std::uint64_t i = 0; i < 6; ++i) {
    ASSERT_TRUE(encode({1, i, 3, 4, 5, 6, 7, 8, i % 2 == 0 ? symbol_ : symbol2_}, site_));
    EXPECT_EQ(args(), expected(i, 7, 8, i % 2 == 0 ? "_Zk" : "_Zother"));
  }
  for (std::uint64_t i = 0; i < 6; ++i) {
    ASSERT_TRUE(encode({1, i, 3, 4, 5, 6, 7, 8, 0}, other_));
    EXPECT_EQ(args(), "\"a\":1,\"b\":" + std::to_string(i) + ",\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8");
  }
}

TEST_F(SteadyArgsText, AfterALostBlockTheStringIsDefinedAnew) {
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(encode({1, i, 3, 4, 5, 6, 7, 8, symbol_}, site_));
  out_.clear();
  encoder_.forget_defined_strings();
  ASSERT_TRUE(encode({1, 9, 3, 4, 5, 6, 7, 8, symbol_}, site_));
  const auto lines = strict::lines_of(out_.view());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("\"name\":\"SH\""), std::string::npos) << lines[0];
}

TEST_F(SteadyArgsText, ARecordThatDoesNotFitItsSchemaIsRefused) {
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(encode({1, i, 3, 4, 5, 6, 7, 8, symbol_}, site_));
  EXPECT_FALSE(encode({1, 2, 3, 4, 5, 6, 7, 8}, site_));
  EXPECT_FALSE(encode({1, 2, 3, 4, 5, 6, 7, 8, symbol_, 10}, site_));
}

}  // namespace
}  // namespace dft::encode
