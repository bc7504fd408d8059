// SPDX-License-Identifier: MIT
// Purpose: text to values and back, for one option at a time.
// Threads: none; pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/option_table.h"

namespace dft::config {

std::string_view trimmed(std::string_view text);
bool equal_any_case(std::string_view a, std::string_view b);
bool parse_int(std::string_view text, std::int64_t* out);
std::vector<std::string> split(std::string_view text, std::string_view separators);

// A value as the user wrote it: `text`, or `items` when the file has a sequence.
struct RawValue {
  std::string text;
  std::vector<std::string> items;
  bool is_sequence = false;
  bool readable = true;  // false: an alias, or a structure where a value should be
};

enum class SetResult : std::uint8_t { kSet, kOtherwise, kRefused };

// Sets the option from a value of the file (`negates` false) or of the environment. kRefused: *options is unchanged.
SetResult set_option(Options* options, const OptionRow& row, const RawValue& value, bool negates);

// Canonical text of the value: sizes with units, lists joined, in the field's sense or, with `negates`, the opposite.
std::string value_text(const Options& options, const OptionRow& row, bool negates = false);

// For messages: control bytes become '?', and long text is cut.
std::string shown(std::string_view text);

}  // namespace dft::config
