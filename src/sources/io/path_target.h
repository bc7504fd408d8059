// SPDX-License-Identifier: MIT
// Purpose: what a path argument names: the name for the trace, and whether it is traced. All that a wrapper needs of
//          path_name.h, path_filter.h and fd_table.h for a call that takes a path.
// Threads: any, signal handlers included; no lock, no malloc. A good KiB of stack: long names are made in a mapping.
// Invariants:
//   1. The bytes are read here and nowhere else, so look only after the real call, and not when it gave EFAULT.
//   2. Untraced paths are not interned.
#pragma once

#include "model/record.h"
#include "sources/io/fd_table.h"
#include "sources/io/path_filter.h"
#include "sources/io/path_name.h"

namespace dft::io {

struct PathTarget {
  model::StringId name;  // 0 when not traced
  bool traced;
};

class PathResolver {
 public:
  constexpr PathResolver(FdTable& descriptors, const PathFilter& filter, WorkingDirectory& directory)
      : descriptors_(descriptors), filter_(filter), directory_(directory) {}

  // `path` as the kernel takes it with `dir_fd` (AT_FDCWD or any descriptor). The empty path names nothing: calls with
  // AT_EMPTY_PATH mean the descriptor itself, FdTable::find. The process's own /proc/self/fd/N, /dev/fd/N and
  // /dev/std{in,out,err} name what the descriptor means.
  PathTarget target(int dir_fd, const char* path) {
    const PathText text = path_text(path);
    if (__builtin_expect(text.whole && plainly_normal(text.bytes), 1)) return judged(text.bytes);
    return composed(dir_fd, text);
  }

  // The id of the same name, traced or not. Absolute, or as it was given (path_name.h, invariant 3).
  model::StringId name_id(int dir_fd, PathText path);

 private:
  struct Composed {
    std::string_view text;
    bool fits;  // false: try again with more memory
  };
  PathTarget judged(std::string_view name);
  PathTarget composed(int dir_fd, PathText path);
  PathTarget composed_at_length(int dir_fd, PathText path);
  model::StringId name_id_at_length(int dir_fd, PathText path);
  PathTarget target_of_own_descriptor(std::string_view name);
  bool nothing_traced_below(int dir_fd, std::string_view path);
  Composed compose(int dir_fd, PathText path, char* memory, std::size_t capacity);
  std::size_t put_directory(int dir_fd, char* memory, std::size_t capacity);
  std::size_t ask_directory(int fd, FdEntry found, char* memory, std::size_t capacity);

  FdTable& descriptors_;
  const PathFilter& filter_;
  WorkingDirectory& directory_;
};

}  // namespace dft::io
