// SPDX-License-Identifier: MIT
// Purpose: how many bytes an I/O event moved, whatever its C library's variant of the name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "read/event.h"

namespace dft::tools {

// "__read_chk", "pread64", "fread_unlocked" -> "read", "pread", "fread".
std::string_view plain_operation(std::string_view name);

// Arg `bytes`; else `ret` of the read and write calls, or ret * size for fread and fwrite. None for other calls, for
// failed ones, and where args were not recorded.
std::optional<std::uint64_t> io_bytes(const read::Event& event);

}  // namespace dft::tools
