// SPDX-License-Identifier: MIT
// Purpose: what the kernel says that an open descriptor is, for descriptors that we did not see opened.
// Threads: any, signal handlers included; raw system calls only (about 2 us), errno kept.
//
// Names, by kind (bytes as the kernel gives them, so they agree with `strace -y`, `lsof` and /proc):
//   kFile, kDirectory  the absolute path; `/x` for a file shown as `/x (deleted)`; `/tmp/#123` for O_TMPFILE
//   kPipe              `pipe:[INODE]`, or the path of a FIFO
//   kSocket            `socket:[INODE]`
//   kEpoll             `anon_inode:[eventpoll]`
//   kMemfd             `memfd:NAME`, with the name given to memfd_create
//   kTerminal          `/dev/pts/N`, `/dev/tty`, `/dev/ttyS0` and their like (devices: traced only when included)
//   kOther             other devices by path; `anon_inode:[eventfd]`, `anon_inode:inotify`, `net:[INODE]` ...
// Without a name (no /proc here, or a path beyond the kernel's limit): `file:[INODE]`, `directory:[INODE]`,
// `pipe:[INODE]`, `socket:[INODE]`, `other:[INODE]`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dft::io {

enum class FdKind : std::uint8_t { kFile, kDirectory, kPipe, kSocket, kEpoll, kMemfd, kTerminal, kOther };

struct FdName {
  std::string_view text;  // in the caller's memory; empty when nothing is open there
  FdKind kind;
};

// A text of capacity - 1 bytes may be cut: paths need PATH_MAX. REQUIRES: capacity > 64.
FdName fd_name(int fd, char* memory, std::size_t capacity);

// Exposed for tests: kind and name of the text of a link in /proc/self/fd, as far as the text alone tells them.
FdName name_of_link(std::string_view link);

}  // namespace dft::io
