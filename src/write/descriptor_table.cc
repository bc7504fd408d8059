// SPDX-License-Identifier: MIT
#include "write/descriptor_table.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>

#include <cstdint>

#include "base/raw_io.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

namespace dft::write {

namespace raw = base::raw;

namespace {
constexpr long kCloseRangeUnshare = 1 << 1;  // CLOSE_RANGE_UNSHARE, Linux 5.9

struct DirectoryEntry {  // linux_dirent64
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};

long number_of(const char* name) {
  long value = 0;
  for (; *name != '\0'; ++name) {
    if (*name < '0' || *name > '9') return -1;
    value = value * 10 + (*name - '0');
  }
  return value;
}

// Closing while reading may skip entries, so the directory is read again until a pass finds nothing.
void close_listed_descriptors() {
  const int fd = raw::open("/proc/thread-self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd < 0) {
    for (int each = 0; each < 65536; ++each) raw::close(each);
    return;
  }
  bool closed_some = true;
  while (closed_some) {
    closed_some = false;
    raw::call(SYS_lseek, fd, 0, 0);
    alignas(8) char entries[4096];
    long size = 0;
    while ((size = raw::call(SYS_getdents64, fd, reinterpret_cast<long>(entries), sizeof entries)) > 0) {
      for (long at = 0; at < size;) {
        const auto* entry = reinterpret_cast<const DirectoryEntry*>(entries + at);
        const long number = number_of(entry->name);
        if (number >= 0 && number != fd) closed_some = raw::close(static_cast<int>(number)) == 0 || closed_some;
        at += entry->length;
      }
    }
  }
  raw::close(fd);
}
}  // namespace

bool own_empty_descriptor_table() {
  if (raw::call(SYS_close_range, 0, ~0u, kCloseRangeUnshare) == 0) return true;
  if (raw::call(SYS_unshare, CLONE_FILES) != 0) return false;
  close_listed_descriptors();
  return true;
}

}  // namespace dft::write
