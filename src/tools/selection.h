// SPDX-License-Identifier: MIT
// Purpose: what every reading subcommand takes: inputs, filters, --json; and one way to read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "read/hash_table.h"
#include "read/inputs.h"
#include "read/scanner.h"
#include "tools/time_text.h"

namespace dft::tools {

class Command;

struct Selection {
  std::vector<std::string> inputs;
  std::vector<std::string> names, cats, types, files;  // globs; types also numbers
  std::vector<std::int64_t> pids, tids;
  std::string from, to;
  bool json = false;
  std::uint64_t jobs = 0;
};
void add_inputs(Command& command, Selection& selection);
void add_filters(Command& command, Selection& selection);

// Says on stderr what could not be found or read, once per line up to a limit, and remembers whether anything was.
class ProblemLog {
 public:
  void input_error(const std::string& text);
  void report(const std::string& file, const read::Problem& problem);
  void finish();  // says how many were not printed
  bool damaged() const { return damaged_; }

 private:
  static constexpr std::uint64_t kPrinted = 20;
  std::uint64_t seen_ = 0;
  bool damaged_ = false;
};
std::string problem_text(const std::string& file, const read::Problem& problem);

// The filters, ready to be asked. Times count in nanoseconds of the trace clock.
class Filter {
 public:
  explicit Filter(const Selection& selection) : selection_(selection) {}
  bool by_time() const { return from_.has_value() || to_.has_value(); }
  bool by_file() const { return !selection_.files.empty(); }
  bool needs_start() const { return (from_ && from_->relative) || (to_ && to_->relative); }
  // False, with a message, when a time cannot be understood.
  bool prepare();
  void set_start(std::uint64_t start_ns) { start_ns_ = start_ns; }
  void set_hashes(const read::HashTable* hashes) { hashes_ = hashes; }
  // Everything but time and file; any thread.
  bool keeps(const read::Event& event) const;
  // Time and file.
  bool keeps_here(const read::Event& event, std::uint64_t unit_ns) const;

 private:
  std::uint64_t edge(const TimePoint& point, std::uint64_t unit_ns) const;
  bool is_on_file(const read::Event& event) const;
  const Selection& selection_;
  std::optional<TimePoint> from_, to_;
  std::uint64_t start_ns_ = 0;
  const read::HashTable* hashes_ = nullptr;
};

// The files of a run with what is known about them before the main pass.
class TraceSet {
 public:
  TraceSet(const Selection& selection, ProblemLog& log);
  const std::vector<std::string>& files() const { return files_; }
  bool empty() const { return files_.empty(); }
  // Smallest ts near the beginning of each file, in nanoseconds.
  std::uint64_t find_start() const;
  // All FH, HH and SH records.
  read::HashTable find_hashes() const;
  // The main pass, with a progress bar.
  bool scan(read::ParseOptions parse, read::Consumer& consumer) const;

 private:
  const Selection& selection_;
  std::vector<std::string> files_;
};

bool glob_match(const std::string& pattern, std::string_view text);

}  // namespace dft::tools
