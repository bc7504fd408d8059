// SPDX-License-Identifier: MIT
#include "sources/io/fd_table.h"

#include <limits.h>

#include "base/raw_io.h"
#include "record/emit.h"
#include "sources/io/path_filter.h"
#include "sources/io/path_name.h"

namespace dft::io {

namespace raw = base::raw;

namespace {

constexpr FdEntry kNothing{0, FdKind::kOther, false};
constexpr std::size_t kUsualName = 1024;  // on the stack; longer ones take a mapping

// The loops below run again only when another thread changed the very same descriptor meanwhile.
template <class NewWord>
void change(std::atomic<std::uint64_t>& word, NewWord new_word) {
  std::uint64_t old = word.load(std::memory_order_seq_cst);
  while (true) {
    const std::uint64_t wanted = new_word(old);
    if (wanted == old || word.compare_exchange_weak(old, wanted, std::memory_order_seq_cst)) return;
  }
}

}  // namespace

FdTable::Word* FdTable::made(int fd) {
  if (Word* word = existing(fd)) return word;
  if (fd < 0) return nullptr;
  const auto number = static_cast<unsigned>(fd);
  std::atomic<Word*>& page = pages_[number / kPageSize];
  auto* fresh = static_cast<Word*>(raw::map(kPageSize * sizeof(Word)));  // zeros are words of unseen descriptors
  if (fresh == nullptr) return nullptr;
  Word* expected = nullptr;
  if (page.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) return fresh + number % kPageSize;
  raw::unmap(fresh, kPageSize * sizeof(Word));
  return expected + number % kPageSize;
}

void FdTable::start(PathFilter& filter) {
  filter_.store(&filter, std::memory_order_release);
  reset();
}

void FdTable::set(int fd, FdEntry entry) {
  Word* word = made(fd);
  if (word == nullptr) return;  // without memory it is looked up each time
  change(*word, [entry](std::uint64_t old) { return (old & kForgottenMask) | pack(entry); });
}

void FdTable::copy(int from, int to) {
  if (from == to) return;
  const FdEntry entry = find(from);
  if ((peek(from) & kKnown) != 0) {
    set(to, entry);
  } else {
    forget(to);  // `from` was closed meanwhile: the duplicate is looked up by itself
  }
}

// The count need not rise while nobody looks the number up: nothing can be remembered by mistake.
std::uint64_t FdTable::forgotten(std::uint64_t old) {
  return (old & (kKnown | kLooking)) == 0 ? old : (old & kForgottenMask) + kOneForgotten;
}
std::uint64_t FdTable::forgotten_if_looked_up(std::uint64_t old) {
  return (old & (kLookedUp | kLooking)) == 0 ? old : (old & kForgottenMask) + kOneForgotten;
}

void FdTable::forget(int fd) {
  if (Word* word = existing(fd)) change(*word, forgotten);
}

void FdTable::closed(int fd) {
  if (Word* word = existing(fd)) change(*word, forgotten_if_looked_up);
}

template <class Change>
void FdTable::each(unsigned first, unsigned last, Change new_word) {
  for (unsigned number = first; number < kNear && number <= last; ++number) change(near_[number], new_word);
  if (last > INT_MAX) last = INT_MAX;
  for (unsigned page = first / kPageSize; page <= last / kPageSize && page < kPages; ++page) {
    Word* words = pages_[page].load(std::memory_order_acquire);
    if (words == nullptr) continue;
    const unsigned page_first = page * kPageSize;
    const unsigned from = first > page_first ? first - page_first : 0;
    const unsigned to = last - page_first < kPageSize ? last - page_first : kPageSize - 1;
    for (unsigned at = from; at <= to; ++at) change(words[at], new_word);
  }
}

void FdTable::forget_range(unsigned first, unsigned last) { each(first, last, forgotten); }
void FdTable::closed_range(unsigned first, unsigned last) { each(first, last, forgotten_if_looked_up); }

void FdTable::refine(int fd, FdEntry found, FdEntry better) {
  Word* word = existing(fd);
  if (word == nullptr) return;
  std::uint64_t old = word->load(std::memory_order_acquire);
  constexpr std::uint64_t kKept = kForgottenMask | kLookedUp;
  if ((old & ~(kKept | kLooking)) != pack(found)) return;
  word->compare_exchange_strong(old, (old & kKept) | pack(better), std::memory_order_seq_cst);
}

[[gnu::noinline]] FdEntry FdTable::look_up(int fd) {
  // Before a page is mapped: programs close a million numbers one by one, hardly any of them open.
  if (existing(fd) == nullptr && (fd < 0 || raw::descriptor_flags(fd) < 0)) return kNothing;
  const std::uint64_t ticket = begin_look(fd);
  if ((ticket & kKnown) != 0) return unpack(ticket);
  FdEntry entry = kNothing;
  if (describe(fd, entry)) end_look(fd, ticket, entry);
  return entry;
}

std::uint64_t FdTable::begin_look(int fd) {
  Word* word = made(fd);
  if (word == nullptr) return 0;
  std::uint64_t old = word->load(std::memory_order_seq_cst);
  while ((old & (kKnown | kLooking)) == 0) {
    if (word->compare_exchange_weak(old, old | kLooking, std::memory_order_seq_cst)) return old | kLooking;
  }
  return old;
}

// Remembers nothing when the number was forgotten or set meanwhile; the answer still was right when we asked.
void FdTable::end_look(int fd, std::uint64_t ticket, FdEntry entry) {
  Word* word = existing(fd);
  if (word == nullptr || (ticket & kLooking) == 0) return;
  word->compare_exchange_strong(ticket, (ticket & kForgottenMask) | pack(entry) | kLookedUp, std::memory_order_seq_cst);
}

// False when nothing is open there any more.
bool FdTable::describe(int fd, FdEntry& entry) const {
  char memory[kUsualName];
  const FdName name = fd_name(fd, memory, sizeof memory);
  return name.text.size() + 1 < sizeof memory ? describe(name, entry) : describe_at_length(fd, entry);
}

[[gnu::noinline]] bool FdTable::describe_at_length(int fd, FdEntry& entry) const {
  const LongName room;
  return room.memory() != nullptr && describe(fd_name(fd, room.memory(), kLongestName), entry);
}

bool FdTable::describe(const FdName& name, FdEntry& entry) const {
  if (name.text.empty()) return false;
  entry.kind = name.kind;
  PathFilter* filter = filter_.load(std::memory_order_acquire);
  if (filter == nullptr) return true;
  const FilterVerdict verdict = filter->look(name.text);
  entry.traced = verdict.traced;
  filter->count(verdict.traced);
  if (verdict.traced || (name.kind == FdKind::kDirectory && verdict.below)) {
    entry.name = record::string_id(model::StringKind::kFile, name.text);
  }
  if (entry.name == 0) entry.traced = false;  // no memory for the name
  return true;
}

}  // namespace dft::io
