// SPDX-License-Identifier: MIT
// Purpose: makes a trace whole again after its process was killed: from the crash file beside it, or without one by
//          keeping every whole line. The input is replaced only by a complete result (written beside it, then renamed).
// Threads: one owner.
// See: model/crash_file.h for what the crash file promises.
#pragma once

#include <cstdint>
#include <string>

namespace dft::tools {

struct RecoverOptions {
  std::string output;  // empty: in place (crash file), or <base>-recovered.pfw.gz (truncated trace)
  bool keep = false;   // the crash file stays
  bool force = false;  // also when its process seems to live
};

struct RecoverResult {
  bool good = false;
  std::string text;  // one line for the user
  std::string trace;
  std::uint64_t events = 0;   // records that were not in the trace yet
  std::uint64_t regions = 0;  // regions that were open
};

RecoverResult recover_crash(const std::string& crash_file, const RecoverOptions& options);

// For a damaged or cut trace without a crash file. `good` and nothing written when it is whole.
RecoverResult recover_lines(const std::string& trace, const RecoverOptions& options);

}  // namespace dft::tools
