// SPDX-License-Identifier: MIT
// Purpose: a trace file opened for reading at any offset.
// Threads: read_at from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace dft::read {

class InputFile {
 public:
  // Null when it cannot be opened or is no regular file; `reason` then says why.
  static std::shared_ptr<const InputFile> open(const std::string& path, std::string& reason);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::uint64_t size() const { return size_; }
  // Bytes read, fewer than asked only at the end of the file; -errno when the kernel refuses.
  std::ptrdiff_t read_at(std::uint64_t offset, void* out, std::size_t size) const;

 private:
  InputFile(int fd, std::uint64_t size) : fd_(fd), size_(size) {}
  int fd_;
  std::uint64_t size_;
};

}  // namespace dft::read
