// SPDX-License-Identifier: MIT
// Purpose: the trace file on disk: created exclusively, grown by whole blocks, never a byte in anybody else's file.
// Threads: one owner (the drain).
// Invariants:
//   1. The file always ends at a block edge: a block that could not be written whole is cut off again.
//   2. When the descriptor table is shared with the application, the descriptor is checked against the file's identity
//      before each write, because the application may have closed and reused its number.
//   3. Nothing is written to a file that has no name any more: it is lost, and who writes must know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

struct stat;

namespace dft::write {

inline constexpr std::size_t kMaxPath = 4096;

// Creates `path`'s missing parent directories. 0 or -errno.
int make_parent_directories(const char* path);

class FileSink {
 public:
  // Opens `<stem><suffix>`, or `<stem>-2<suffix>`, `-3`, ... when taken. 0 or -errno; path() names what was tried last.
  int open(std::string_view stem, std::string_view suffix, bool shared_descriptors);
  // Appends all of `block`, or nothing. 0 or -errno; -ENOENT and -ESTALE: the file was removed or replaced.
  int append(std::string_view block);
  void close();
  // The thread whose own table held the descriptor has ended; the next append opens the file again.
  void lost_descriptor() { fd_ = -1, shared_ = true; }
  // In a forked child: the descriptor is the parent's (or was never inherited).
  void forget();

  bool is_open() const { return inode_ != 0; }
  const char* path() const { return path_; }
  std::string_view stem() const { return {path_, stem_len_}; }  // path without the suffix
  std::uint64_t size() const { return size_; }
  unsigned reopened() const { return reopened_; }

 private:
  int make_ready();  // 0 when the descriptor is our file's and the file still has its name
  bool is_ours(const struct stat& found) const;
  bool still_ours();
  int reopen();
  int fd_ = -1;
  bool shared_ = false;
  bool counts_links_ = false;  // some network file systems say 0 for every file
  unsigned reopened_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::size_t stem_len_ = 0;
  char path_[kMaxPath] = {};
};

}  // namespace dft::write
