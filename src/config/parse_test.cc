// SPDX-License-Identifier: MIT
#include "config/parse.h"

#include <gtest/gtest.h>

#include "config/config.h"

namespace dft::config {
namespace {

constexpr unsigned long long kUntouched = 12345;

unsigned long long size_of(std::string_view text) {
  unsigned long long out = kUntouched;
  return parse_size(text, &out) ? out : kUntouched;
}

unsigned long long time_of(std::string_view text) {
  unsigned long long out = kUntouched;
  return parse_time_ms(text, &out) ? out : kUntouched;
}

TEST(ParseSize, TakesPlainNumbersAndUnitsInAnyCase) {
  EXPECT_EQ(size_of("0"), 0u);
  EXPECT_EQ(size_of("4096"), 4096u);
  EXPECT_EQ(size_of(" 16M "), 16u << 20);
  EXPECT_EQ(size_of("4 KiB"), 4096u);
  EXPECT_EQ(size_of("4kb"), 4096u);
  EXPECT_EQ(size_of("4k"), 4096u);
  EXPECT_EQ(size_of("7B"), 7u);
  EXPECT_EQ(size_of("16 mib"), 16u << 20);
  EXPECT_EQ(size_of("1GB"), 1ull << 30);
  EXPECT_EQ(size_of("1g"), 1ull << 30);
  EXPECT_EQ(size_of("2TiB"), 2ull << 40);
  EXPECT_EQ(size_of("18446744073709551615"), ~0ull);
}

TEST(ParseSize, RefusesEverythingElseAndLeavesTheOutputAlone) {
  for (const char* text :
       {"", " ", "-1", "+1", "16Q", "M", "1.5M", "0x10", "1 2", "16MM", "1000000000000000000000000000000",
        "18446744073709551616", "16777216T", "99999999999999999999K", "1e6", "16M;", "\xff"}) {
    EXPECT_EQ(size_of(text), kUntouched) << text;
  }
}

TEST(ParseTime, CountsMilliseconds) {
  EXPECT_EQ(time_of("100"), 100u);
  EXPECT_EQ(time_of("100ms"), 100u);
  EXPECT_EQ(time_of("2s"), 2000u);
  EXPECT_EQ(time_of("2 sec"), 2000u);
  EXPECT_EQ(time_of("1m"), 60000u);
  EXPECT_EQ(time_of("1min"), 60000u);
  EXPECT_EQ(time_of("1H"), 3600000u);
  for (const char* text : {"", "-1s", "1d", "1us", "s", "18446744073709551615s", "1.5s"}) {
    EXPECT_EQ(time_of(text), kUntouched) << text;
  }
}

TEST(ParseBool, TakesFourWordsEachWayInAnyCase) {
  for (const char* text : {"1", "true", "TRUE", "on", "On", "yes", "YES", " yes\n"}) {
    bool out = false;
    EXPECT_TRUE(parse_bool(text, &out) && out) << text;
  }
  for (const char* text : {"0", "false", "False", "off", "OFF", "no", "No"}) {
    bool out = true;
    EXPECT_TRUE(parse_bool(text, &out) && !out) << text;
  }
  for (const char* text : {"", "2", "y", "n", "enable", "tru", "truee", "-1", "01"}) {
    bool out = true;
    EXPECT_FALSE(parse_bool(text, &out)) << text;
    EXPECT_TRUE(out);
  }
}

TEST(ParseInt, TakesSignedWholeNumbers) {
  std::int64_t out = 7;
  EXPECT_TRUE(parse_int("-12", &out));
  EXPECT_EQ(out, -12);
  EXPECT_TRUE(parse_int(" 9223372036854775807", &out));
  EXPECT_EQ(out, INT64_MAX);
  for (const char* text : {"", "-", "--1", "1x", "9223372036854775808", "1 000"}) {
    EXPECT_FALSE(parse_int(text, &out)) << text;
  }
}

TEST(Split, KeepsBlanksInsideItemsAndDropsEmptyOnes) {
  EXPECT_EQ(split("/a:/b c::/d:", ":"), (std::vector<std::string>{"/a", "/b c", "/d"}));
  EXPECT_EQ(split("A,B;C", ",;"), (std::vector<std::string>{"A", "B", "C"}));
  EXPECT_TRUE(split(" : ", ":").empty());
  EXPECT_TRUE(split("", ":").empty());
}

TEST(ValueText, ComesBackAsTheSameValue) {
  Options options;
  for (const OptionRow& row : kOptionRows) {
    const std::string before = value_text(options, row);
    if (before.empty() || row.kind == Kind::kList) continue;
    EXPECT_EQ(set_option(&options, row, RawValue{before, {}, false, true}, false), SetResult::kSet) << row.env;
    EXPECT_EQ(value_text(options, row), before) << row.env;
  }
}

TEST(ValueText, OfTheDefaultsIsWhatTheTableSays) {
  const Options options;
  for (const OptionRow& row : kOptionRows) {
    const std::string text = value_text(options, row);
    if (row.kind == Kind::kTimeMs) {
      EXPECT_EQ(text, row.default_text + std::string(" ms")) << row.env;
    } else {
      EXPECT_EQ(text, row.default_text) << row.env;
    }
  }
}

TEST(Shown, CutsLongTextAndHidesControlBytes) {
  EXPECT_EQ(shown("a\nb\x1b[31m\x7f"), "a?b?[31m?");
  EXPECT_EQ(shown(std::string(100, 'x')), std::string(80, 'x') + "...");
}

}  // namespace
}  // namespace dft::config
