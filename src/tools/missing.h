// SPDX-License-Identifier: MIT
// Purpose: how many numbered events of one file are not there, and whether its own account of losses explains that.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tools/finding.h"

namespace dft::tools {

class Missing {
 public:
  void see_loss(std::string_view args);  // of a `loss` record
  void see_end(std::string_view args);   // of the `end` event, whose sums may tell more than the records that survived
  // `start` with this id is the first event of the file: what was numbered before it was lost with earlier start-up
  // records.
  void see_first_start(std::uint64_t id) { before_start_ = id - 1; }
  // `numbered` events should be there, `there` are. Nothing when they agree.
  std::optional<Finding> judge(std::uint64_t numbered, std::uint64_t there, std::string_view who_tells) const;
  // How many of them nothing explains.
  std::uint64_t unexplained(std::uint64_t numbered, std::uint64_t there) const;

 private:
  struct Cause {
    std::uint64_t in_records = 0;
    std::uint64_t in_end = 0;
    bool unknown = false;  // some record could not tell how many
  };
  std::map<std::string, Cause, std::less<>> causes_;
  std::uint64_t before_start_ = 0;
};

}  // namespace dft::tools
