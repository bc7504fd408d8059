// SPDX-License-Identifier: MIT
// Purpose: makes a trace whole again after its process was killed: from the crash file beside it, or without one by
//          keeping every record that can be read. The input is replaced only by a complete result (written beside it,
//          then renamed). Every result is read once more as `validate` does; what is wrong with it is said.
// Threads: one owner.
// See: model/crash_file.h for what the crash file promises.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dft::tools {

inline constexpr std::string_view kCauseDamaged = "damaged";  // of `loss` records that a recovery writes

struct RecoverOptions {
  std::string output;  // empty: in place (crash file), or <base>-recovered.pfw.gz (truncated trace)
  bool keep = false;   // the crash file stays
  bool force = false;  // also when its process seems to live, or the result is there already
};

struct RecoverResult {
  bool good = false;
  std::string text;  // one line for the user
  std::string trace;
  std::uint64_t events = 0;   // records that were not in the trace yet
  std::uint64_t regions = 0;  // regions that were open
  std::uint64_t missing = 0;  // events that are known to be lost
};

RecoverResult recover_crash(const std::string& crash_file, const RecoverOptions& options);

// For a damaged or cut trace without a crash file. `good` and nothing written when it is whole.
RecoverResult recover_lines(const std::string& trace, const RecoverOptions& options);

// Reads what was written, and takes `good` back when it is not valid.
void check_result(RecoverResult& result);
std::uint64_t size_of(const std::string& path);  // of a file; 0 when there is none
struct FileVerdict;
std::string first_error(const FileVerdict& verdict);

}  // namespace dft::tools
