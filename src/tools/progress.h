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
  static constexpr auto kFirst = std::chrono::milliseconds(700);  // short work shows nothing
  Progress(std::string what, std::uint64_t total, std::chrono::milliseconds first = kFirst);
  ~Progress();  // wipes the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void at(std::uint64_t done);
  // Something else is about to be printed on stderr, where the bar may stand: it comes again with the next step.
  static void make_room();
  // And on stdout, which is printed in pieces that may end within a line: where that is a terminal, the bar goes for
  // good.
  static void make_room_for_output();
  // The bar's text for a share of the work; without the control characters around it.
  static std::string bar(const std::string& what, std::uint64_t done, std::uint64_t total);

 private:
  void wipe();

  static Progress* current_;
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
