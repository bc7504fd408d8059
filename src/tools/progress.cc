// SPDX-License-Identifier: MIT
#include "tools/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "tools/time_text.h"

namespace dft::tools {
namespace {
constexpr auto kStep = std::chrono::milliseconds(100);
}  // namespace

Progress* Progress::current_ = nullptr;

Progress::Progress(std::string what, std::uint64_t total, std::chrono::milliseconds first)
    : what_(std::move(what)),
      total_(total),
      terminal_(total > 0 && isatty(STDERR_FILENO) != 0),
      next_(std::chrono::steady_clock::now() + first) {
  current_ = this;
}

Progress::~Progress() {
  wipe();
  current_ = nullptr;
}

void Progress::wipe() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void Progress::make_room() {
  if (current_ != nullptr) current_->wipe();
}

void Progress::make_room_for_output() {
  if (current_ == nullptr || !current_->terminal_ || isatty(STDOUT_FILENO) == 0) return;
  current_->wipe();
  current_->terminal_ = false;
}

std::string Progress::bar(const std::string& what, std::uint64_t done, std::uint64_t total) {
  constexpr std::uint64_t kWidth = 30;
  done = std::min(done, total);
  const std::uint64_t filled = total == 0 ? kWidth : done * kWidth / total;
  return what + " [" + std::string(filled, '#') + std::string(kWidth - filled, '.') + "] " +
         std::to_string(total == 0 ? 100 : done * 100 / total) + " % of " + human_bytes(static_cast<double>(total));
}

void Progress::at(std::uint64_t done) {
  if (!terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kStep;
  shown_ = true;
  std::fprintf(stderr, "\r%s\033[K", bar(what_, done, total_).c_str());
  std::fflush(stderr);
}

bool scan_with_bar(const std::string& what, const std::vector<std::string>& files, read::ScanOptions options,
                   read::Consumer& consumer) {
  std::uint64_t bytes = 0;
  for (const auto& file : files) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (!error) bytes += size;
  }
  Progress progress(what, bytes);
  options.progress = [&](std::uint64_t done) { progress.at(done); };
  return read::scan(files, options, consumer);
}

}  // namespace dft::tools
