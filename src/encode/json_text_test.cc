// SPDX-License-Identifier: MIT
#include "encode/json_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "encode/json_check.h"
#include "encode/json_writer.h"
#include "encode/strict_json_for_test.h"
#include "encode/utf8.h"

namespace dft::encode {
namespace {

std::string quoted(std::string_view text, bool* valid = nullptr) {
  base::Buffer out;
  const bool whole = append_json_string(text, out);
  if (valid != nullptr) *valid = whole;
  return std::string(out.view());
}

// Text that survives: what the encoder writes, a strict reader gives back.
void expect_round_trip(const std::string& text) {
  bool valid = false;
  const std::string json = quoted(text, &valid);
  EXPECT_TRUE(valid);
  EXPECT_EQ(strict::parse(json).text, text) << json;
  EXPECT_EQ(json.find('\n'), std::string::npos);
  EXPECT_LE(json.size() - 2, text::escaped_bound(text.data(), text.size()));
}

constexpr char kReplacement[] = "\xef\xbf\xbd";

// How many bytes of `text` were replaced; what stays must read back.
int replaced(std::string_view text) {
  bool valid = true;
  const std::string read = strict::parse(quoted(text, &valid)).text;
  int count = 0;
  for (std::size_t at = 0; (at = read.find(kReplacement, at)) != std::string::npos; at += 3) ++count;
  EXPECT_EQ(valid, count == 0);
  return count;
}

TEST(Escape, EveryByteAtEveryPositionOfAWord) {
  for (int byte = 0; byte < 0x80; ++byte) {
    for (std::size_t before = 0; before < 17; ++before) {
      for (const std::size_t after : {0, 1, 7, 8, 9}) {
        expect_round_trip(std::string(before, 'a') + static_cast<char>(byte) + std::string(after, 'z'));
      }
    }
  }
  for (int byte = 0x80; byte < 0x100; ++byte) {
    for (std::size_t before = 0; before < 17; ++before) {
      EXPECT_EQ(replaced(std::string(before, 'a') + static_cast<char>(byte) + "zzzzzzzzz"), 1);
    }
  }
}

TEST(Escape, UsesTheShortForms) {
  EXPECT_EQ(quoted("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(quoted("\n\t\r\b\f"), R"("\n\t\r\b\f")");
  EXPECT_EQ(quoted(std::string_view("\0\x01\x1f\x7f", 4)), "\"\\u0000\\u0001\\u001f\x7f\"");
  EXPECT_EQ(quoted("(a) 'b' |c|"), "\"(a) 'b' |c|\"");
  EXPECT_EQ(quoted(""), "\"\"");
}

TEST(Escape, KeepsTextOfEveryUtf8Length) {
  expect_round_trip("\xc2\x80 \xdf\xbf");
  expect_round_trip("\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf");
  expect_round_trip("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf");
  std::string mixed;
  for (int i = 0; i < 40; ++i) {
    mixed += std::string(static_cast<std::size_t>(i) % 9, 'x') + "\xe6\xbc\xa2\xf0\x9f\x98\x80\"\xc3\xa9";
    expect_round_trip(mixed);
  }
}

TEST(Escape, ReplacesEachInvalidByte) {
  EXPECT_EQ(replaced("\xc0\x80"), 2);          // overlong NUL
  EXPECT_EQ(replaced("\xc1\xbf"), 2);          // overlong
  EXPECT_EQ(replaced("\xe0\x9f\xbf"), 3);      // overlong
  EXPECT_EQ(replaced("\xf0\x8f\xbf\xbf"), 4);  // overlong
  EXPECT_EQ(replaced("\xed\xa0\x80"), 3);      // surrogate
  EXPECT_EQ(replaced("\xed\xbf\xbf"), 3);      // surrogate
  EXPECT_EQ(replaced("\xf4\x90\x80\x80"), 4);  // above U+10FFFF
  EXPECT_EQ(replaced("\xf5\x80\x80\x80"), 4);  // never a lead
  EXPECT_EQ(replaced("\xff"), 1);
  EXPECT_EQ(replaced("\x80"), 1);      // continuation without lead
  EXPECT_EQ(replaced("\xe6\xbc"), 2);  // truncated at the end
  EXPECT_EQ(replaced("\xe6\xbc"
                     "a"),
            2);  // truncated by ASCII
  EXPECT_EQ(replaced("\xf0\x9f\x98"
                     "\xe6\xbc\xa2"),
            3);  // truncated by a whole character
  EXPECT_EQ(replaced("\xc3"
                     "\xc3\xa9"),
            1);
  EXPECT_EQ(quoted("a\xff"
                   "b"),
            "\"a\xef\xbf\xbd"
            "b\"");
}

TEST(Escape, AgreesWithTheUtf8CheckOnRandomBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (auto n = random() % 24; n != 0; --n) text += static_cast<char>(random() % 3 ? random() & 0xff : 'a');
    bool valid = false;
    const std::string json = quoted(text, &valid);
    const std::string read = strict::parse(json).text;  // throws when it is not JSON or not UTF-8
    EXPECT_EQ(valid, is_utf8(text));
    if (valid) {
      EXPECT_EQ(read, text);
    }
    std::vector<char> padded((text.size() + 7) / 8 * 8 + 8, '"');
    text.copy(padded.data(), text.size());
    std::vector<char> room(text.size() * 6 + 64);
    const text::Escaped end = text::put_escaped_padded(room.data(), padded.data(), text.size());
    EXPECT_EQ('"' + std::string(room.data(), end.end) + '"', json);
    EXPECT_EQ(end.valid, valid);
  }
}

TEST(Escape, PaddedTextsAreCheckedInEveryByteAndNoFurther) {
  for (std::size_t size = 0; size <= 40; ++size) {
    std::vector<char> padded((size + 7) / 8 * 8, '"');  // what stands behind the text does not matter
    std::fill_n(padded.begin(), size, 'a');
    std::vector<char> room(size * 6 + 64);
    const auto written = [&] {
      const text::Escaped end = text::put_escaped_padded(room.data(), padded.data(), size);
      return std::string(room.data(), end.end);
    };
    ASSERT_EQ(written(), std::string(size, 'a'));
    for (std::size_t at = 0; at < size; ++at) {
      for (const char odd : {'"', '\\', '\x01', '\x1f', '\x7f', ' ', '\x80', '\xff'}) {
        padded[at] = odd;
        std::string plain(size, 'a');
        plain[at] = odd;
        ASSERT_EQ('"' + written() + '"', quoted(std::string_view(plain))) << size << ' ' << at;
      }
      padded[at] = 'a';
    }
  }
}

TEST(Escape, HasNoLengthLimit) {
  std::string text(3 << 20, 'n');
  text[1 << 20] = '\x01';
  expect_round_trip(text);
  expect_round_trip(std::string(64 * 1024, '"'));
}

template <class T>
std::string written(void (*append)(T, base::Buffer&), T value) {
  base::Buffer out;
  append(value, out);
  return std::string(out.view());
}

TEST(Numbers, IntegersAreExactAtEveryLength) {
  std::vector<std::uint64_t> values = {0, ~std::uint64_t{0}, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 1};
  for (std::uint64_t power = 1, i = 0; i < 20; ++i, power *= 10) {
    for (const std::uint64_t near : {power - 1, power, power + 1, power * 7 + 3}) values.push_back(near);
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 5000; ++i) values.push_back(random() >> (random() % 64));
  for (const std::uint64_t v : values) {
    ASSERT_EQ(written(append_uint, v), std::to_string(v));
    const auto s = static_cast<std::int64_t>(v);
    ASSERT_EQ(written(append_int, s), std::to_string(s));
  }
  EXPECT_EQ(written(append_int, std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

TEST(Numbers, DoublesReadBackEqual) {
  std::vector<double> values = {0.0,
                                1.5,
                                1234567890.0,
                                1234567890.123,
                                16777217.0,
                                1e300,
                                5e-324,
                                0.1,
                                -2.5e-7,
                                9007199254740993.0,
                                1e22,
                                123456789012345678901234.0,
                                std::numeric_limits<double>::max(),
                                std::numeric_limits<double>::min()};
  std::mt19937_64 random(2);
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t bits = random();
    double v;
    std::memcpy(&v, &bits, sizeof v);
    if (std::isfinite(v)) values.push_back(v);
    values.push_back(static_cast<double>(random() >> (random() % 64)));
  }
  for (const double v : values) {
    for (const double signed_v : {v, -v}) {
      const std::string text = written(append_double, signed_v);
      ASSERT_LE(text.size(), text::kMaxNumber);
      const strict::Value read = strict::parse(text);
      ASSERT_EQ(read.kind, strict::Value::kNumber) << text;
      ASSERT_EQ(read.as_double(), signed_v) << text;
    }
  }
  EXPECT_EQ(written(append_double, 1.5), "1.5");
  EXPECT_EQ(written(append_double, 0.1), "0.1");
  EXPECT_EQ(written(append_double, 1234567890.0), "1234567890");
}

TEST(Numbers, DecimalsAreAsShortAsTheyCanBe) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 20000; ++i) {
    double v =
        static_cast<double>(random() % 1'000'000'000'000'000) / std::pow(10.0, static_cast<double>(random() % 18));
    if (i % 3 == 0) v = std::nextafter(v, i % 2 ? 0.0 : 1e300);
    if (v == std::trunc(v)) continue;  // whole numbers are written out, though 1e+05 would be shorter
    char shortest[64];
    const std::string expected(shortest, std::to_chars(shortest, shortest + 64, v).ptr);
    ASSERT_EQ(written(append_double, v).size(), expected.size()) << expected;
    ASSERT_EQ(strict::parse(written(append_double, v)).as_double(), v) << expected;
  }
  EXPECT_EQ(written(append_double, 20.467), "20.467");
  EXPECT_EQ(written(append_double, -0.00010001), "-0.00010001");
  EXPECT_EQ(written(append_double, 9999999.99999999), "9999999.99999999");
  EXPECT_EQ(written(append_double, 100000.0), "100000");
  EXPECT_EQ(written(append_double, -0.0), "-0");
}

TEST(Numbers, WhatIsNoNumberBecomesNull) {
  EXPECT_EQ(written(append_double, std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(written(append_double, std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(written(append_double, -std::numeric_limits<double>::infinity()), "null");
}

TEST(Numbers, HexHasSixteenDigits) {
  EXPECT_EQ(written(append_hex16, std::uint64_t{0}), "0000000000000000");
  EXPECT_EQ(written(append_hex16, std::uint64_t{0x8f0de68c04eea0bf}), "8f0de68c04eea0bf");
}

TEST(JsonWriter, PlacesCommas) {
  base::Buffer out;
  JsonWriter json(out);
  json.begin_object().key("a").number(1).key("b").begin_array().string("x").number(-2).number(0.5).begin_object();
  json.end_object().end_array().key("c").begin_object().key("d").flag(true).key("e").raw("null").end_object();
  json.key("f").string("\"").end_object();
  EXPECT_EQ(out.view(), R"({"a":1,"b":["x",-2,0.5,{}],"c":{"d":1,"e":null},"f":"\""})");
  EXPECT_NO_THROW(strict::parse(out.view()));
}

TEST(JsonWriter, WritesFragmentsWithoutBraces) {
  base::Buffer out;
  JsonWriter(out).key("name").string("time_metric").key("value").string("US");
  EXPECT_EQ(out.view(), R"("name":"time_metric","value":"US")");
}

TEST(JsonCheck, TakesJsonAndNothingElse) {
  for (const char* good : {"1", "-0.5e+10", "\"a\\u00e9\"", "[]", "{}", "[1,[2,{\"a\":null}],true]", " {\"a\" : [ ] } ",
                           "\"\xc3\xa9\"", "false", "{\"a\":{},\"b\":[{}]}"}) {
    EXPECT_TRUE(is_json(good)) << good;
  }
  for (const char* bad : {"",        " ",           "01",    "1.",    "+1", "nan", "\"a", "\"\n\"", "[1,]",
                          "{\"a\"}", "{\"a\":1,}",  "[1 2]", "{1:2}", "]",  "[}",  "{]",  "1 2",    "\"\xff\"",
                          "\"\\x\"", "\"\\u12g4\"", "tru",   "[1\n]", "{",  "[[]", "-",   "1e",     "{\"a\":1]"}) {
    EXPECT_FALSE(is_json(bad)) << bad;
  }
  EXPECT_TRUE(is_json(std::string(64, '[') + std::string(64, ']')));
  EXPECT_FALSE(is_json(std::string(65, '[') + std::string(65, ']')));
}

}  // namespace
}  // namespace dft::encode
