// SPDX-License-Identifier: MIT
#include "sources/io/fd_name.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/sysmacros.h>

#include <cstring>

#include "base/raw_io.h"

namespace dft::io {

namespace raw = base::raw;

namespace {

constexpr std::string_view kDeleted = " (deleted)";

bool starts_with(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }
bool ends_with(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && text.substr(text.size() - with.size()) == with;
}

// Digits of `number` before `end`; returns where they begin.
char* put_number(char* end, std::uint64_t number) {
  do {
    *--end = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return end;
}

// Of the thread, not of the process: a process whose first thread has ended shows no descriptors, and a thread may have
// a table of its own.
long read_link(const char* folder, int fd, char* out, std::size_t capacity) {
  char path[64] = {};
  char* const end = path + sizeof path - 1;
  char* at = put_number(end, static_cast<std::uint64_t>(fd));
  const std::size_t folder_size = std::strlen(folder);
  at -= folder_size;
  std::memcpy(at, folder, folder_size);
  return raw::readlink(at, out, capacity);
}

FdKind kind_of_mode(const struct ::stat& info) {
  // Majors of Documentation/admin-guide/devices.txt: 4 tty and serial, 5 tty and console, 136 to 143 pseudo-terminals.
  const unsigned device = major(info.st_rdev);
  switch (info.st_mode & S_IFMT) {
    case S_IFREG: return FdKind::kFile;
    case S_IFDIR: return FdKind::kDirectory;
    case S_IFIFO: return FdKind::kPipe;
    case S_IFSOCK: return FdKind::kSocket;
    case S_IFCHR:
      return device == 4 || device == 5 || (device >= 136 && device <= 143) ? FdKind::kTerminal : FdKind::kOther;
    default: return FdKind::kOther;
  }
}

std::string_view word_of(FdKind kind) {
  switch (kind) {
    case FdKind::kFile: return "file";
    case FdKind::kDirectory: return "directory";
    case FdKind::kPipe: return "pipe";
    case FdKind::kSocket: return "socket";
    default: return "other";
  }
}

FdName name_by_inode(const struct ::stat& info, char* memory) {
  const FdKind kind = kind_of_mode(info);
  const std::string_view word = word_of(kind);
  char digits[24];
  char* const digits_end = digits + sizeof digits;
  const char* number = put_number(digits_end, info.st_ino);
  const auto count = static_cast<std::size_t>(digits_end - number);
  char* at = memory;
  std::memcpy(at, word.data(), word.size());
  at += word.size();
  std::memcpy(at, ":[", 2);
  std::memcpy(at + 2, number, count);
  at[2 + count] = ']';
  return {{memory, word.size() + count + 3}, kind};
}

// A file may really be called `x (deleted)`: then the whole text still leads to it.
bool leads_to(const char* path, const struct ::stat& info) {
  struct ::stat there;
  return raw::stat_at(AT_FDCWD, path, &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_dev == info.st_dev &&
         there.st_ino == info.st_ino;
}

}  // namespace

FdName name_of_link(std::string_view link) {
  constexpr std::string_view kMemfd = "/memfd:";
  if (starts_with(link, kMemfd)) {
    if (ends_with(link, kDeleted)) link.remove_suffix(kDeleted.size());
    return {link.substr(1), FdKind::kMemfd};
  }
  if (starts_with(link, "/")) return {link, FdKind::kFile};
  if (starts_with(link, "pipe:")) return {link, FdKind::kPipe};
  if (starts_with(link, "socket:")) return {link, FdKind::kSocket};
  if (link == "anon_inode:[eventpoll]") return {link, FdKind::kEpoll};
  return {link, FdKind::kOther};
}

FdName fd_name(int fd, char* memory, std::size_t capacity) {
  struct ::stat info;
  if (fd < 0 || raw::fstat(fd, &info) != 0) return {{}, FdKind::kOther};
  if ((info.st_mode & S_IFMT) == S_IFSOCK) return name_by_inode(info, memory);  // as its link would say
  long size = read_link("/proc/thread-self/fd/", fd, memory, capacity - 1);
  if (size < 0) size = read_link("/proc/self/fd/", fd, memory, capacity - 1);  // before Linux 3.17
  if (size <= 0) return name_by_inode(info, memory);
  memory[size] = '\0';
  FdName name = name_of_link({memory, static_cast<std::size_t>(size)});
  if (name.kind != FdKind::kFile) return name;
  name.kind = kind_of_mode(info);
  if (ends_with(name.text, kDeleted) && !leads_to(memory, info)) name.text.remove_suffix(kDeleted.size());
  return name;
}

}  // namespace dft::io
