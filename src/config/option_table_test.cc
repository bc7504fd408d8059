// SPDX-License-Identifier: MIT
// Purpose: every row of the table, through each layer; a new option is tested by standing in spec/options.toml.
#include "config/option_table.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "config/fake_environment.h"
#include "config/parse.h"

namespace dft::config {
namespace {

using Variables = std::map<std::string, std::string>;
using Lines = std::vector<std::string>;

Origin origin_of(const Loaded& loaded, OptionId id) { return loaded.origins[static_cast<std::size_t>(id)]; }

// Some value that differs from the default, in the sense of the variable and of the key.
struct Sample {
  std::string variable;
  std::string key;
  std::string text;  // as value_of prints it
};

Sample sample_of(const OptionRow& row) {
  switch (row.kind) {
    case Kind::kBool: {
      const bool key = row.default_text == std::string("0");
      const std::string variable = key != row.env_negates ? "yes" : "off";
      return {variable, key ? "true" : "false", key != row.env_negates ? "1" : "0"};
    }
    case Kind::kEnum: {
      std::string value = row.values[0] == std::string(row.default_text) ? row.values[1] : row.values[0];
      return {value, value, value};
    }
    case Kind::kSize: return {"2M", "2 MiB", "2 MiB"};
    case Kind::kTimeMs: return {"3s", "3000", "3000 ms"};
    case Kind::kInt: return {"3", "3", "3"};
    case Kind::kPath: return {"/some/path", "/some/path", "/some/path"};
    case Kind::kList: return {"/x", "[/x]", "/x"};
  }
  return {};
}

std::string nested(const std::string& key, const std::string& value) {
  std::string open = "{" + key + ": " + value + "}";
  for (std::size_t dot; (dot = open.find('.')) < open.find(':');) open.replace(dot, 1, ": {").append("}");
  return open + "\n";
}

class EveryOption : public ::testing::TestWithParam<std::size_t> {
 protected:
  const OptionRow& row_ = kOptionRows[GetParam()];
  const Sample sample_ = sample_of(row_);
  const bool is_file_ = row_.id == OptionId::kConfiguration;
};

TEST_P(EveryOption, IsTakenFromTheEnvironment) {
  if (is_file_) return;
  const Loaded loaded = load_with({{row_.env, sample_.variable}});
  EXPECT_EQ(value_of(loaded.options, row_.env), sample_.text);
  EXPECT_EQ(origin_of(loaded, row_.id), Origin::kEnvironment);
  EXPECT_NE(sample_.text, value_of(Options{}, row_.env)) << "the sample must differ from the default";
}

TEST_P(EveryOption, IsTakenFromTheFile) {
  if (row_.yaml[0] == '\0') return;
  const Loaded loaded = load_file(nested(row_.yaml, sample_.key));
  EXPECT_EQ(value_of(loaded.options, row_.env), sample_.text);
  EXPECT_EQ(origin_of(loaded, row_.id), Origin::kFile);
}

TEST_P(EveryOption, OfTheFileIsOverriddenByTheEnvironmentInBothDirections) {
  if (row_.yaml[0] == '\0') return;
  std::string back = value_of(Options{}, row_.env);
  if (back.empty()) back = "/back";
  const Loaded off = load_file(nested(row_.yaml, sample_.key), {{row_.env, back}});
  EXPECT_EQ(value_of(off.options, row_.env), back);
  EXPECT_EQ(origin_of(off, row_.id), Origin::kEnvironment);
  const Loaded empty = load_file(nested(row_.yaml, sample_.key), {{row_.env, ""}});
  EXPECT_EQ(value_of(empty.options, row_.env), sample_.text) << "an empty variable counts as unset";
}

TEST_P(EveryOption, SaysOnceThatAPartIsNotInThisBuild) {
  if (is_file_) return;
  Variables variables{{"DFTRACER_ENABLE", "1"}};
  variables[row_.env] = sample_.variable;
  const Loaded loaded = load_with(std::move(variables));
  const bool quiet = row_.needs_quiet[0] != '\0' && value_text(loaded.options, row_) == row_.needs_quiet;
  if (row_.needs[0] == '\0' || quiet) {
    EXPECT_EQ(loaded.notes, Lines{});
  } else {
    EXPECT_EQ(loaded.notes, Lines{row_.env + std::string("=") + sample_.variable +
                                  " has no effect: this build does not have " + row_.needs + " yet"});
  }
}

TEST_P(EveryOption, WithAWrongValueKeepsTheDefaultAndSaysWhatIsAccepted) {
  if (is_file_ || row_.kind == Kind::kList || row_.otherwise >= 0) return;
  const std::string bad = row_.kind == Kind::kPath ? std::string(5000, 'x') : "16Q";
  const std::string end = std::string(" is not valid; accepted: ") + row_.accepted + "; the default ";
  Variables variables{{"DFTRACER_ENABLE", "1"}};
  variables[row_.env] = bad;
  const Loaded loaded = load_with(variables);
  EXPECT_EQ(value_of(loaded.options, row_.env), value_of(Options{}, row_.env));
  ASSERT_EQ(loaded.notes.size(), 1u);
  EXPECT_NE(loaded.notes[0].find(row_.env + std::string("=") + bad.substr(0, 80)), std::string::npos);
  EXPECT_NE(loaded.notes[0].find(end), std::string::npos) << loaded.notes[0];
  if (row_.yaml[0] == '\0' || row_.id == OptionId::kEnable) return;
  const Loaded file = load_file(nested(row_.yaml, bad), {{"DFTRACER_ENABLE", "1"}});
  EXPECT_EQ(value_of(file.options, row_.env), value_of(Options{}, row_.env));
  ASSERT_EQ(file.notes.size(), 1u);
  EXPECT_EQ(file.notes[0].find("FILE:1: " + std::string(row_.yaml) + ": " + bad.substr(0, 80)), 0u) << file.notes[0];
  EXPECT_NE(file.notes[0].find(end), std::string::npos) << file.notes[0];
}

INSTANTIATE_TEST_SUITE_P(Table, EveryOption, ::testing::Range<std::size_t>(0, kOptionCount),
                         [](const auto& option) { return std::string(kOptionRows[option.param].field_name); });

}  // namespace
}  // namespace dft::config
