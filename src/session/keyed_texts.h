// SPDX-License-Identifier: MIT
// Purpose: texts by key, in the order in which the keys came; the last text of a key counts. Without malloc: it is read
//          while the application may be crashed inside malloc.
// Threads: none; the owner locks.
// Invariant: memory is bounded by what is in force: texts that were replaced make up at most about half of it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/buffer.h"

namespace dft::session {

class KeyedTexts {
 public:
  // False, and nothing has changed, when memory is refused.
  bool put(std::string_view key, std::string_view text);

  std::size_t size() const { return entries_.size() / sizeof(Entry); }
  std::string_view key(std::size_t i) const { return view(entry(i).key_at, entry(i).key_size); }
  std::string_view text(std::size_t i) const { return view(entry(i).text_at, entry(i).text_size); }
  std::size_t memory() const { return entries_.capacity() + bytes_.capacity() + slots_.capacity(); }

  void release();            // empty, and the memory given back
  void forget_after_fork();  // empty in a child, which has not inherited the memory

 private:
  struct Entry {
    std::uint64_t hash, key_at, text_at;
    std::uint32_t key_size, text_size, text_room;
  };

  const Entry& entry(std::size_t i) const { return reinterpret_cast<const Entry*>(entries_.data())[i]; }
  Entry& entry(std::size_t i) { return reinterpret_cast<Entry*>(entries_.data())[i]; }
  std::string_view view(std::uint64_t at, std::uint32_t size) const { return {bytes_.data() + at, size}; }
  std::size_t slot_count() const { return slots_.size() / sizeof(std::uint32_t); }
  std::uint32_t* slots() { return reinterpret_cast<std::uint32_t*>(slots_.data()); }

  std::uint32_t* slot_of(std::string_view key, std::uint64_t hash);
  bool make_slots();
  bool add(std::string_view key, std::uint64_t hash, std::string_view text);
  bool replace(Entry& old, std::string_view text);
  void drop_replaced();

  base::Buffer entries_;        // Entry
  base::Buffer bytes_;          // keys and texts
  base::Buffer slots_;          // open addressing: number of an entry + 1, or 0; a power of two, at most half full
  std::uint64_t replaced_ = 0;  // bytes of bytes_ that nothing points to
};

}  // namespace dft::session
