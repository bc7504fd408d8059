// SPDX-License-Identifier: MIT
// Purpose: which file each descriptor means, for every number that an int can hold.
// Threads: any, signal handlers included; lock-free. One atomic word a descriptor: the first ones lie in the table
//          itself, the others in pages mapped when first needed and never given back.
// Invariants:
//   1. What set() and copy() stored holds until the number is set again or forgotten: a file keeps the name it was
//      opened by, however it is renamed or removed.
//   2. A number without an entry is looked up once (fd_name.h) and remembered; a look-up that raced with forget() is
//      not remembered.
//   3. What a number meant that is not open is never remembered.
// Order around the real calls, or another thread's open of the same number loses its events:
//   close   forget(fd); close; closed(fd)        close_range, closefrom   forget_range; call; closed_range
//   dup2    forget(to); dup2; copy(from, to)     open                     call; set(fd, ...)
//   pipe, socket, accept, epoll_create ...       call; forget(fd) (the kind is looked up when first used)
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "model/record.h"
#include "sources/io/fd_name.h"

namespace dft::io {

class PathFilter;

// `name` 0: not known because not traced. A directory that is not traced, but has traced ones below it, has a name.
struct FdEntry {
  model::StringId name;
  FdKind kind;
  bool traced;
};

class FdTable {
 public:
  constexpr FdTable() = default;
  FdTable(const FdTable&) = delete;
  FdTable& operator=(const FdTable&) = delete;

  void start(PathFilter& filter);  // all descriptors unseen; new ones are judged by `filter`
  void reset() { forget_range(0, ~0u); }

  // Nothing ({0, kOther, false}) for numbers that are not open.
  FdEntry find(int fd) {
    const std::uint64_t word = peek(fd);
    return __builtin_expect((word & kKnown) != 0, 1) ? unpack(word) : look_up(fd);
  }
  void set(int fd, FdEntry entry);
  void copy(int from, int to);  // REQUIRES: `to` is a duplicate of `from` by now

  void forget(int fd);
  void forget_range(unsigned first, unsigned last);
  // After the real close: drops what other threads looked up while it was being closed.
  void closed(int fd);
  void closed_range(unsigned first, unsigned last);

  // The halves of a look-up, on their own only in tests. What comes between them may be any call of another thread.
  std::uint64_t begin_look(int fd);
  void end_look(int fd, std::uint64_t ticket, FdEntry entry);

  // Replaces what find() gave, if that is still what stands there.
  void refine(int fd, FdEntry found, FdEntry better);

 private:
  // A word: name 0..31, kind 32..35, traced 36, known 37, looked up (rather than set) 38, being looked up 39, and above
  // how often the number was forgotten. Being looked up is marked first, so that a closing thread sees it.
  static constexpr std::uint64_t kTraced = std::uint64_t{1} << 36;
  static constexpr std::uint64_t kKnown = std::uint64_t{1} << 37;
  static constexpr std::uint64_t kLookedUp = std::uint64_t{1} << 38;
  static constexpr std::uint64_t kLooking = std::uint64_t{1} << 39;
  static constexpr std::uint64_t kOneForgotten = std::uint64_t{1} << 40;
  static constexpr std::uint64_t kForgottenMask = ~(kOneForgotten - 1);

  using Word = std::atomic<std::uint64_t>;
  static constexpr unsigned kNear = 1024;  // the usual limit of descriptors
  static constexpr unsigned kPageSize = 1u << 16;
  static constexpr unsigned kPages = 1u << 15;

  static FdEntry unpack(std::uint64_t word) {
    return {static_cast<model::StringId>(word), static_cast<FdKind>((word >> 32) & 15), (word & kTraced) != 0};
  }
  static std::uint64_t pack(FdEntry entry) {
    return entry.name | std::uint64_t{static_cast<std::uint8_t>(entry.kind)} << 32 | (entry.traced ? kTraced : 0) |
           kKnown;
  }
  // Pairs with the compare-exchanges in fd_table.cc: a name that is seen here is whole in the table of names.
  std::uint64_t peek(int fd) const {
    const auto number = static_cast<unsigned>(fd);
    if (__builtin_expect(number < kNear, 1)) return near_[number].load(std::memory_order_acquire);
    const Word* word = existing(fd);
    return word != nullptr ? word->load(std::memory_order_acquire) : 0;
  }
  const Word* existing(int fd) const {
    if (fd < 0) return nullptr;
    const auto number = static_cast<unsigned>(fd);
    if (number < kNear) return &near_[number];
    const Word* page = pages_[number / kPageSize].load(std::memory_order_acquire);
    return page != nullptr ? page + number % kPageSize : nullptr;
  }
  Word* existing(int fd) { return const_cast<Word*>(static_cast<const FdTable*>(this)->existing(fd)); }
  Word* made(int fd);
  FdEntry look_up(int fd);
  bool describe(int fd, FdEntry& entry) const;
  bool describe_at_length(int fd, FdEntry& entry) const;
  bool describe(const FdName& name, FdEntry& entry) const;
  static std::uint64_t forgotten(std::uint64_t old);
  static std::uint64_t forgotten_if_looked_up(std::uint64_t old);
  template <class Change>
  void each(unsigned first, unsigned last, Change new_word);

  std::atomic<PathFilter*> filter_{nullptr};
  Word near_[kNear] = {};
  std::atomic<Word*> pages_[kPages] = {};
};

}  // namespace dft::io
