// SPDX-License-Identifier: MIT
// Purpose: whether bytes are one complete JSON value on one line. Args of type kJson are made by the tracer itself, but
//          recovered memory may hold anything, and no line of a trace may be broken by it.
#pragma once

#include <string_view>

namespace dft::encode {

// Strict RFC 8259, valid UTF-8, no line break, nested at most 64 deep; no recursion, no memory.
bool is_json(std::string_view text);

}  // namespace dft::encode
