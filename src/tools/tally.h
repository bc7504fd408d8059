// SPDX-License-Identifier: MIT
// Purpose: a private temporary file to which each traced process that recorded nothing appends one byte when it ends.
// Threads: one owner. Processes that outlive `run` find no file any more and stay uncounted.
#pragma once

#include <cstdint>
#include <string>

namespace dft::tools {

inline constexpr const char* kTallyVariable = "DFTRACER_RUN_TALLY";

class Tally {
 public:
  Tally();
  ~Tally();
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;
  const std::string& path() const { return path_; }  // empty when no file could be made
  std::uint64_t take();                              // processes that were counted; removes the file

 private:
  std::string path_;
};

}  // namespace dft::tools
