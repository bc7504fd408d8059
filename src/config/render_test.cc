// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "config/fake_environment.h"
#include "config/option_table.h"

namespace dft::config {
namespace {

std::string line_of(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("\n" + name + " ");
  return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

TEST(RenderText, HasALineForEachOptionWithValueAndOrigin) {
  const std::string text = render_text(
      load_file("internal: {clock: tsc}\n", {{"DFTRACER_DISABLE_TIDS", "1"}, {"DFTRACER_WRITE_BUFFER_SIZE", "16M"}}));
  for (const OptionRow& row : kOptionRows) EXPECT_NE(line_of(text, row.env), "") << row.env;
  EXPECT_NE(line_of(text, "DFTRACER_CLOCK").find(" tsc "), std::string::npos);
  EXPECT_NE(line_of(text, "DFTRACER_CLOCK").find(" file "), std::string::npos);
  EXPECT_NE(line_of(text, "DFTRACER_DISABLE_TIDS").find(" 1 "), std::string::npos);
  EXPECT_NE(line_of(text, "DFTRACER_WRITE_BUFFER_SIZE").find(" 16 MiB "), std::string::npos);
  EXPECT_NE(line_of(text, "DFTRACER_WRITE_BUFFER_SIZE").find(" environment "), std::string::npos);
  EXPECT_NE(line_of(text, "DFTRACER_ENABLE").find(" default "), std::string::npos);
}

TEST(RenderJson, IsTypedAndEscaped) {
  const std::string json = render_json(load_with({{"DFTRACER_ENABLE", "1"},
                                                  {"DFTRACER_LOG_FILE", "a\"b\\c\n\xff"},
                                                  {"DFTRACER_DATA_DIR", "/a:/b"},
                                                  {"DFTRACER_CLOCK", "x\"y"}}));
  for (const char* part :
       {"{\"options\":[{\"name\":\"DFTRACER_ENABLE\",\"key\":\"enable\",\"field\":\"enable\",\"value\":true,",
        "\"value\":\"a\\\"b\\\\c\\u000a\\u00ff\"", "\"value\":[\"/a\",\"/b\"]", "\"value\":1048576,\"text\":\"1 MiB\"",
        "\"notes\":[\"DFTRACER_CLOCK=x\\\"y is not valid", "],\"muted\":[]}\n"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
  }
}

}  // namespace
}  // namespace dft::config
