// SPDX-License-Identifier: MIT
// Purpose: the blocks of one trace, read strictly -> what is wrong with it. `validate` prints it, `recover` decides by
//          it.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "read/scanner.h"
#include "tools/file_checker.h"
#include "tools/finding.h"

namespace dft::tools {

struct FileVerdict {
  std::uint64_t lines = 0;
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::uint64_t warnings = 0;
  bool ours = false;
  bool ended = false;
  bool recovered = false;         // it holds the note of an earlier recovery
  std::uint64_t unexplained = 0;  // numbered events that are missing, and no loss record says why
  std::vector<Finding> findings;  // the first `most`
};

class VerdictMaker {
 public:
  VerdictMaker(bool strict_loss, std::uint64_t most) : strict_loss_(strict_loss), most_(most) {}
  void block(const read::Block& block);
  FileVerdict finish(const read::FileReport& report);  // and is ready for the next file

 private:
  void keep();

  bool strict_loss_;
  std::uint64_t most_;
  std::unique_ptr<FileChecker> checker_ = std::make_unique<FileChecker>();
  FileVerdict verdict_;
  std::vector<Finding> found_;
};

// How a scan must parse for it.
read::ParseOptions strict_parse();

// The verdict over one file, with its first finding that is an error in front (if any).
FileVerdict judge_trace(const std::string& trace);

}  // namespace dft::tools
