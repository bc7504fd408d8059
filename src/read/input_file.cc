// SPDX-License-Identifier: MIT
#include "read/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/log.h"

namespace dft::read {

std::shared_ptr<const InputFile> InputFile::open(const std::string& path, std::string& reason) {
  struct stat info {};
  // O_NONBLOCK: a FIFO in a folder of traces must not stop us.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || ::fstat(fd, &info) != 0) {
    reason = std::string(base::error_text(errno));
    if (fd >= 0) ::close(fd);
    return nullptr;
  }
  if (!S_ISREG(info.st_mode)) {
    reason = S_ISDIR(info.st_mode) ? "is a directory" : "is no regular file";
    ::close(fd);
    return nullptr;
  }
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  return std::shared_ptr<const InputFile>(new InputFile(fd, static_cast<std::uint64_t>(info.st_size)));
}

InputFile::~InputFile() { ::close(fd_); }

std::ptrdiff_t InputFile::read_at(std::uint64_t offset, void* out, std::size_t size) const {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(fd_, static_cast<char*>(out) + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -errno;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<std::ptrdiff_t>(done);
}

}  // namespace dft::read
