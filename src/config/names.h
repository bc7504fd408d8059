// SPDX-License-Identifier: MIT
// Purpose: which variables and keys are known, and which known one a misspelt name probably means.
// Threads: none; pure.
#pragma once

#include <string>
#include <string_view>

#include "config/option_table.h"

namespace dft::config {

const OptionRow* row_of_variable(std::string_view variable);
const OptionRow* row_of_key(std::string_view key);  // in the tracer's own spelling, see canonical_key
// "profiler.init" -> "tracer.init"
std::string canonical_key(std::string_view key);

// True for every name that deserves no message: options, accepted names, variables of other programs.
bool variable_is_known(std::string_view variable);
bool key_is_accepted(std::string_view key);
bool key_is_section(std::string_view key);

// The nearest known name, or empty when none is near.
std::string_view nearest_variable(std::string_view variable);
std::string_view nearest_key(std::string_view key);

}  // namespace dft::config
