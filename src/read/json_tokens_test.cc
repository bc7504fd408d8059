// SPDX-License-Identifier: MIT
#include "read/json_tokens.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "read/line_parser.h"
#include "read/traces_for_test.h"

namespace dft::read {
namespace {

// Wraps `json` as a block and reads it strictly.
std::string verdict(const std::string& json, bool strict = true) {
  Block block;
  block.reserve(json.size() + 1);
  json.copy(block.text.get(), json.size());
  block.text_size = json.size();
  std::fill_n(block.text.get() + json.size(), kPadding, ' ');
  ParseOptions options;
  options.strict = strict;
  LineParser(options).parse(block);
  if (!block.problems.empty())
    return std::string(problem_name(block.problems[0].kind)) + ": " + block.problems[0].reason;
  return block.events.size() == 1 ? "ok" : "no event";
}

std::string with_args(const std::string& args) {
  return R"({"id":1,"name":"n","cat":"c","type":9,"pid":1,"tid":1,"ts":1,"dur":1,"ph":1,"args":)" + args + "}";
}

TEST(StrictJson, AcceptsWhatTheGrammarAllows) {
  for (const char* args :
       {"{}", "{ \"a\" : 1 }", R"({"a":-0,"b":0.5,"c":1e9,"d":-1.25E-3,"e":true,"f":false,"g":null})",
        R"({"a":[],"b":[1,[2,{"c":3}]],"d":{"e":{}}})", R"({"a":"\"\\\/\b\f\n\r\t\u0041\ud83d\ude00"})",
        R"({"a":"ü 漢 😀"})", R"({"a":18446744073709551615,"b":123456789012345678901234567890})"}) {
    EXPECT_EQ(verdict(with_args(args)), "ok") << args;
  }
}

TEST(StrictJson, RefusesWhatItDoesNot) {
  for (const char* args : {"{",
                           "}",
                           R"({"a":1,})",
                           R"({"a" 1})",
                           R"({"a":})",
                           R"({a:1})",
                           R"({"a":01})",
                           R"({"a":1.})",
                           R"({"a":.5})",
                           R"({"a":+1})",
                           R"({"a":1e})",
                           R"({"a":-})",
                           R"({"a":nan})",
                           R"({"a":True})",
                           R"({"a":truex})",
                           R"({"a":[1,]})",
                           R"({"a":[1 2]})",
                           R"({"a":"x"y})",
                           R"({"a":"\x"})",
                           R"({"a":"\u12"})",
                           R"({"a":"\ud800"})",
                           R"({"a":"\udc00\ud800"})",
                           "{\"a\":\"\t\"}",
                           R"({"a":"unclosed})",
                           R"({"a":1}{"b":2})",
                           "{\"a\":\"b\" \"c\"}",
                           R"({"a":'b'})",
                           R"({"a":1 /*x*/})"}) {
    EXPECT_EQ(verdict(with_args(args)).substr(0, 8), "bad_json") << args;
  }
}

TEST(StrictJson, FindsDuplicateKeysAtEveryDepthAlsoWhenWrittenWithEscapes) {
  EXPECT_EQ(verdict(with_args(R"({"a":1,"b":2,"a":3})")), "duplicate_key: duplicate key");
  EXPECT_EQ(verdict(with_args(R"({"x":{"a":1,"\u0061":3}})")), "duplicate_key: duplicate key");
  EXPECT_EQ(verdict(with_args(R"({"x":[{"a":1},{"a":1}]})")), "ok");
  EXPECT_EQ(verdict(with_args(R"({"a":1,"a":3})"), false), "ok");
  std::string many = "{";
  for (int i = 0; i < 200; ++i) many += "\"k" + std::to_string(i) + "\":1,";
  EXPECT_EQ(verdict(with_args(many + "\"z\":1}")), "ok");
  EXPECT_EQ(verdict(with_args(many + "\"k150\":1}")), "duplicate_key: duplicate key");
}

TEST(StrictJson, TakesAnyNumberOfKeysAlsoEscapedOnes) {
  std::string args = "{";
  for (int i = 0; i < 3000; ++i) args += (i == 0 ? "" : ",") + ("\"k\\n" + std::to_string(i)) + "\":1";
  EXPECT_EQ(verdict(with_args(args + "}")), "ok");
  EXPECT_EQ(verdict(with_args(args + ",\"k\\u000a7\":1}")), "duplicate_key: duplicate key");
}

TEST(StrictJson, RefusesEveryKindOfInvalidUtf8) {
  for (const char* bytes :
       {"\x80", "\xff", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x9f\x98"}) {
    EXPECT_EQ(verdict(with_args("{\"a\":\"" + std::string(bytes) + "\"}")), "bad_utf8: invalid UTF-8");
  }
}

TEST(StrictJson, RefusesDeepNestingInsteadOfUsingUpTheStack) {
  const std::string deep(100000, '[');
  EXPECT_EQ(verdict(with_args("{\"a\":" + deep + std::string(deep.size(), ']') + "}")), "bad_json: nested too deeply");
}

TEST(StrictJson, NeedsTheKeysOfThePhaseInTheRightTypes) {
  EXPECT_EQ(verdict(R"({"name":"n","cat":"c","type":9,"pid":1,"tid":1,"ts":1,"dur":1,"ph":1})"),
            "bad_record: missing key \"id\"");
  EXPECT_EQ(verdict(R"({"id":1,"name":"n","cat":"c","type":9,"pid":1,"tid":1,"ts":1,"ph":1})"),
            "bad_record: missing key \"dur\"");
  EXPECT_EQ(verdict(R"({"id":1,"name":"n","cat":"c","type":9,"pid":"1","tid":1,"ts":1,"dur":1,"ph":1})"),
            "bad_record: wrong type of key \"pid\"");
  EXPECT_EQ(verdict(R"({"id":1,"name":"n","cat":"c","type":9,"pid":1,"tid":1,"ts":1.5,"dur":1,"ph":1})"),
            "bad_record: wrong type of key \"ts\"");
  EXPECT_EQ(
      verdict(R"({"id":1,"name":"n","cat":"c","type":9,"pid":1,"tid":1,"ts":18446744073709551615,"dur":1,"ph":1})"),
      "bad_record: ts + dur is beyond 64 bits");
  EXPECT_EQ(verdict(R"({"name":"FH","cat":"dftracer","type":1,"pid":1,"tid":1,"ph":4})"),
            "bad_record: missing key \"args\"");
  EXPECT_EQ(verdict("{}"), "bad_record: missing key \"name\"");
  EXPECT_EQ(verdict("17").substr(0, 8), "bad_json");
}

// A blank behind the first brace keeps a line off the quick path; both ways must agree on every line.
TEST(StrictJson, TheQuickPathAcceptsNothingThatTheFullOneRefuses) {
  const std::string good =
      with_args(R"({"hhash":"2a702c695247d487","ret":-4096,"x":1.5e3,"fhash":"4a40025765d5119b"})");
  const std::string bytes = "{}[]\",:\\-+.eE0123456789 tfn\x01\x80\xc3\t";
  std::mt19937 random(1);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string line = good;
    for (int i = 0; i < 1 + round % 2; ++i) {
      const std::size_t at = 1 + random() % (line.size() - 1);
      switch (random() % 3) {
        case 0: line[at] = bytes[random() % bytes.size()]; break;
        case 1: line.erase(at, 1); break;
        default: line.insert(at, 1, bytes[random() % bytes.size()]); break;
      }
    }
    const std::string quick = verdict(line);
    EXPECT_EQ(quick, verdict("{ " + line.substr(1))) << line;
    accepted += quick == "ok" ? 1 : 0;
  }
  EXPECT_GT(accepted, 1000);
}

TEST(Unescape, UndoesEveryEscape) {
  const std::string_view text = R"(a\"\\\/\b\f\n\r\tz\u00e9\u6f22\ud83d\ude00)";
  std::string out(text.size(), '\0');
  const std::ptrdiff_t size = unescape(text, out.data());
  ASSERT_GE(size, 0);
  out.resize(static_cast<std::size_t>(size));
  EXPECT_EQ(out, "a\"\\/\b\f\n\r\tzé漢😀");
}

}  // namespace
}  // namespace dft::read
