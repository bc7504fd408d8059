// SPDX-License-Identifier: MIT
// Purpose: a progress bar on stderr for work that lasts, when stderr is a terminal.
// Threads: one owner.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "read/scanner.h"

namespace dft::tools {

class Progress {
 public:
  Progress(std::string what, std::uint64_t total);
  ~Progress();  // wipes the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void at(std::uint64_t done);
  // The bar's text for a share of the work; without the control characters around it.
  static std::string bar(const std::string& what, std::uint64_t done, std::uint64_t total);

 private:
  std::string what_;
  std::uint64_t total_;
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_;
};

// read::scan with a bar.
bool scan_with_bar(const std::string& what, const std::vector<std::string>& files, read::ScanOptions options,
                   read::Consumer& consumer);

}  // namespace dft::tools
