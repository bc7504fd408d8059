// SPDX-License-Identifier: MIT
// Purpose: the members of an event's args, for the few records whose args matter in detail.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "read/json_tokens.h"

namespace dft::tools {

// Calls `member(key, value)` for each; strings come unescaped. `args` needs no padding. False when it is no object.
bool for_each_arg(
    std::string_view args,
    const std::function<void(std::string_view key, const read::Value& value, std::string_view text)>& member);

std::optional<std::string> find_arg(std::string_view args, std::string_view key);
std::optional<std::uint64_t> find_number(std::string_view args, std::string_view key);

}  // namespace dft::tools
