// SPDX-License-Identifier: MIT
#include "tools/tally.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace dft::tools {

Tally::Tally() {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  if (error) return;
  std::string path = std::filesystem::absolute(folder / "dftracer-tally-XXXXXX", error).string();
  const int fd = error ? -1 : ::mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) return;
  ::close(fd);
  path_ = std::move(path);
}

Tally::~Tally() { take(); }

std::uint64_t Tally::take() {
  if (path_.empty()) return 0;
  struct stat info {};
  const bool there = ::lstat(path_.c_str(), &info) == 0 && S_ISREG(info.st_mode);
  ::unlink(path_.c_str());
  path_.clear();
  return there ? static_cast<std::uint64_t>(info.st_size) : 0;
}

}  // namespace dft::tools
