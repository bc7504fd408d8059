// SPDX-License-Identifier: MIT
// Purpose: one thing that is wrong, or worth a warning, in a trace.
// Threads: plain data.
#pragma once

#include <cstdint>
#include <string>

namespace dft::tools {

struct Finding {
  std::uint64_t line = 0;  // 0: the file as a whole
  std::uint64_t byte = 0;
  bool in_file = false;
  bool warning = false;
  bool legal = false;  // a warning that --strict-loss leaves one: nothing is missing
  std::string kind;
  std::string reason;
};

}  // namespace dft::tools
