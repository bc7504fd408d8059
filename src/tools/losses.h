// SPDX-License-Identifier: MIT
// Purpose: what a trace says is missing from it: loss and wait records, processes without an end. Printed first by
//          every report.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "read/event.h"
#include "tools/output.h"

namespace dft::tools {

// Cause of the `loss` record that lists calls that the configuration leaves out: nothing is lost.
inline constexpr std::string_view kLeftOutByChoice = "api_quiet";

class Losses {
 public:
  void begin_file(const std::string& file);
  void see(const read::Event& event);
  void end_file();
  void print_text(Output& out) const;  // nothing when nothing is missing
  void print_json(Output& out) const;  // a member "losses" of the open object
  bool any() const;                    // but for what was left out by choice

 private:
  struct Cause {
    std::uint64_t records = 0;
    std::uint64_t count = 0;
    bool unknown = false;  // some record could not tell how many
    std::uint64_t bytes = 0;
    std::string detail;
  };
  std::map<std::string, Cause> causes_;
  std::uint64_t waits_ = 0;
  std::uint64_t waited_ns_ = 0;
  std::uint64_t longest_wait_ns_ = 0;
  std::uint64_t recovered_ = 0;
  std::vector<std::string> without_end_;
  std::string file_;
  bool started_ = false;
  bool ended_ = false;
  bool file_recovered_ = false;
};

}  // namespace dft::tools
