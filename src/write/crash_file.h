// SPDX-License-Identifier: MIT
// Purpose: the writing side of model/crash_file.h: creates the file, keeps its header current, removes it at a clean
// end. Threads: one owner (the drain).
#pragma once

#include <string_view>

#include "base/clock.h"
#include "model/crash_file.h"
#include "write/trace_writer.h"

namespace dft::write {

class CrashFile {
 public:
  // Creates `<trace stem>.dfcrash`. 0 or -errno.
  int open(const FileSink& trace, const WriterOptions& options);
  void close_and_remove();
  void forget() { fd_ = -1, header_ = nullptr; }

  int reopen();  // after the thread whose own table held the descriptor has ended; the new descriptor or -errno
  bool is_open() const { return header_ != nullptr; }
  int fd() const { return fd_; }
  model::CrashHeader* header() { return header_; }
  void store_clock(const base::ClockMap& clock, base::Ticks now);

 private:
  int fd_ = -1;
  model::CrashHeader* header_ = nullptr;
  std::uint64_t knots_stored_ = 0;
  char path_[kMaxPath] = {};
};

}  // namespace dft::write
