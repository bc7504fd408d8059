// SPDX-License-Identifier: MIT
#include "write/file_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include <cstdio>
#include <cstring>

#include "base/raw_io.h"

namespace dft::write {

namespace raw = base::raw;

namespace {
constexpr int kMaxSameName = 100'000;
constexpr int kHighDescriptor = 512;  // out of the way of programs that count on low numbers

bool exists(const char* path) {
  struct stat found;
  return raw::stat_at(AT_FDCWD, path, &found, 0) == 0;
}
}  // namespace

int make_parent_directories(const char* path) {
  char partial[kMaxPath];
  const std::size_t length = std::strlen(path);
  if (length >= sizeof partial) return -ENAMETOOLONG;
  int result = 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (path[i] != '/') continue;
    std::memcpy(partial, path, i);
    partial[i] = '\0';
    result = raw::mkdir(partial, 0777);
    // Some file systems refuse also what is there already; then the open tells what really is wrong.
    if (result == -EEXIST || ((result == -EACCES || result == -EROFS) && exists(partial))) result = 0;
    if (result < 0) return result;
  }
  return result;
}

int FileSink::open(std::string_view stem, std::string_view suffix, bool shared_descriptors) {
  shared_ = shared_descriptors;
  size_ = 0;
  reopened_ = 0;
  for (int number = 1; number < kMaxSameName; ++number) {
    int length = 0;
    const auto stem_size = static_cast<int>(stem.size());
    if (number == 1) {
      length = std::snprintf(path_, sizeof path_, "%.*s", stem_size, stem.data());
    } else {
      length = std::snprintf(path_, sizeof path_, "%.*s-%d", stem_size, stem.data(), number);
    }
    if (length < 0 || static_cast<std::size_t>(length) + suffix.size() >= sizeof path_) return -ENAMETOOLONG;
    stem_len_ = static_cast<std::size_t>(length);
    std::memcpy(path_ + stem_len_, suffix.data(), suffix.size());
    path_[stem_len_ + suffix.size()] = '\0';
    if (number == 1) {
      const int made = make_parent_directories(path_);
      if (made < 0) return made;
    }
    const int fd = raw::open(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd == -EEXIST) continue;
    if (fd < 0) return fd;
    fd_ = fd;
    break;
  }
  if (fd_ < 0) return -EEXIST;
  if (shared_) {
    const long high = raw::call(SYS_fcntl, fd_, F_DUPFD_CLOEXEC, kHighDescriptor);
    if (high >= 0) {
      raw::close(fd_);
      fd_ = static_cast<int>(high);
    }
  }
  struct stat found;
  if (raw::fstat(fd_, &found) == 0) {
    device_ = found.st_dev;
    inode_ = found.st_ino;
    counts_links_ = found.st_nlink != 0;
  }
  return 0;
}

bool FileSink::is_ours(const struct stat& found) const {
  // The size tells our file from a new one that got the inode number of our deleted one.
  return found.st_dev == device_ && found.st_ino == inode_ && static_cast<std::uint64_t>(found.st_size) == size_;
}

bool FileSink::still_ours() {
  struct stat found;
  return raw::fstat(fd_, &found) == 0 && is_ours(found);
}

int FileSink::reopen() {
  const int fd = raw::open(path_, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0);
  fd_ = -1;  // the old number belongs to the application now and is not ours to close
  if (fd < 0) return fd;
  fd_ = fd;
  if (!still_ours()) {
    raw::close(fd_);
    fd_ = -1;
    return -ESTALE;
  }
  ++reopened_;
  return 0;
}

int FileSink::make_ready() {
  struct stat found;
  const bool known = fd_ >= 0 && raw::fstat(fd_, &found) == 0;
  if (fd_ < 0 || (shared_ && !(known && is_ours(found)))) return reopen();
  // Without a name nobody would ever see what is written.
  return known && counts_links_ && found.st_nlink == 0 ? -ENOENT : 0;
}

int FileSink::append(std::string_view block) {
  if (!is_open()) return -EBADF;
  const int ready = make_ready();
  if (ready < 0) return ready;
  const std::uint64_t signals = raw::block_signals();
  std::size_t done = 0;
  const long result = raw::write_all(fd_, block.data(), block.size(), &done);
  if (result >= 0) {
    size_ += block.size();
  } else if (done != 0) {
    raw::ftruncate(fd_, size_);
  }
  raw::restore_signals(signals);
  return result < 0 ? static_cast<int>(result) : 0;
}

void FileSink::close() {
  if (fd_ >= 0 && (!shared_ || still_ours())) raw::close(fd_);
  forget();
}

void FileSink::forget() {
  fd_ = -1;
  inode_ = 0;
}

}  // namespace dft::write
