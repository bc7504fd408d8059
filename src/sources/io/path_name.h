// SPDX-License-Identifier: MIT
// Purpose: absolute names of paths, as the trace states them: lexically normalised (no `//`, `.`, `..`, no slash at the
//          end) and independent of the directory that the process was in.
// Threads: any, signal handlers included. No lock, no malloc; raw system calls only when the directory has changed.
// Invariants:
//   1. A path is never read beyond the PATH_MAX bytes that the kernel would read of it.
//   2. A name that does not fit, or that the kernel refuses for its length, ends in kCutMark; nothing else is cut.
//   3. A relative path whose directory nobody can tell stays as it was given: it never becomes a wrong absolute name.
#pragma once

#include <limits.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/sanitizer.h"

namespace dft::io {

inline constexpr std::string_view kCutMark = "...";
inline constexpr std::size_t kLongestName = 2 * PATH_MAX;  // of any directory with any path that the kernel takes

// Memory for a name of any length, of which the thread's own stack may not have enough. Null when it is refused.
class LongName {
 public:
  LongName();
  ~LongName();
  LongName(const LongName&) = delete;
  LongName& operator=(const LongName&) = delete;
  char* memory() const { return memory_; }

 private:
  base::UnseenByThreadSanitizer unseen_;  // the address may be another thread's next, which it does not see
  char* memory_;
};

// The bytes of a path argument. `whole` is false when the kernel refuses it as too long: then they are its beginning.
struct PathText {
  std::string_view bytes;
  bool whole;
};
PathText path_text(const char* path);  // null is the empty path

// 0x80 in every byte of a word that equals `byte`, exactly: paths are searched eight bytes at a time.
constexpr std::uint64_t bytes_equal(std::uint64_t word, unsigned char byte) {
  constexpr std::uint64_t kEachByte = 0x0101010101010101ull;
  constexpr std::uint64_t kLow = ~(kEachByte << 7);
  const std::uint64_t differs = word ^ (kEachByte * byte);
  return ~(((differs & kLow) + kLow) | differs | kLow);
}

// True when an absolute path certainly is its own normalised name. False means only: look closer (or `/.hidden`).
bool plainly_normal(std::string_view path);
// The same of a path below a directory: adding it means putting a slash and its bytes behind.
bool plainly_below(std::string_view path);

// Puts a normalised name together from a directory and paths below it.
class NameWriter {
 public:
  // `size` bytes of a normalised name may stand in the memory already. REQUIRES: capacity >= size + kCutMark.size().
  NameWriter(char* memory, std::size_t capacity, std::size_t size = 0)
      : memory_(memory), room_(capacity - kCutMark.size()), size_(size) {}
  void add(std::string_view path);  // relative to what was added before; an absolute one first
  void mark_cut();
  bool cut() const { return cut_; }
  std::string_view view() const { return size_ == 0 ? std::string_view("/") : std::string_view(memory_, size_); }

 private:
  void push(std::string_view component);
  void pop();
  char* memory_;
  std::size_t room_;
  std::size_t size_;
  bool cut_ = false;
};

// The process's working directory, asked of the kernel once after each change.
// Invariant: what read() gives was the directory at some moment after the last changed() that happened before it.
// Known limit: threads that leave the common directory with unshare(CLONE_FS) must be reported by never_cache().
class WorkingDirectory {
 public:
  constexpr WorkingDirectory() = default;
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;

  void start();        // at start, and in every forked child: from here on this process caches
  void changed();      // after chdir, fchdir, chroot, pivot_root, setns; harmless in a child of vfork
  void never_cache();  // after unshare(CLONE_FS) or a clone without CLONE_FS of one thread

  // Writes the absolute, normalised name and returns its size; 0 when nobody can tell it (outside of the root, longer
  // than the kernel's limit) or it does not fit. PATH_MAX + 8 bytes are always enough.
  std::size_t read(char* out, std::size_t capacity);

 private:
  static constexpr std::size_t kWords = PATH_MAX / sizeof(std::uint64_t);
  std::size_t read_cached(std::uint64_t generation, char* out, std::size_t capacity) const;
  std::size_t ask(std::uint64_t generation, char* out, std::size_t capacity);
  void store(std::uint64_t generation, const char* name, std::size_t size);

  std::atomic<std::uint64_t> generation_{1};
  std::atomic<std::int32_t> owner_{0};  // the process that may store: a child of vfork shares our memory, not our place
  std::atomic<std::uint32_t> sequence_{0};  // odd while a thread stores
  std::atomic<std::uint64_t> cached_generation_{0};
  std::atomic<std::size_t> cached_size_{0};
  std::atomic<std::uint64_t> words_[kWords] = {};
};

}  // namespace dft::io
