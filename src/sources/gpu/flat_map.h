// SPDX-License-Identifier: MIT
// Purpose: a hash table of plain keys and values on its own mapping: no malloc, no removal.
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/raw_io.h"

namespace dft::gpu {

inline std::uint64_t mix(std::uint64_t h) {
  h *= 0x9e3779b97f4a7c15ull;
  h ^= h >> 32;
  h *= 0xff51afd7ed558ccdull;
  return h ^ (h >> 29);
}

// `Key` has operator== and hash().
template <typename Key, typename Value>
class FlatMap {
  static_assert(std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Value>);

 public:
  FlatMap() = default;
  ~FlatMap() { clear(); }
  FlatMap(const FlatMap&) = delete;
  FlatMap& operator=(const FlatMap&) = delete;

  Value* find(const Key& key) {
    if (slots_ == nullptr) return nullptr;
    for (std::size_t at = key.hash() & mask_;; at = (at + 1) & mask_) {
      if (!slots_[at].used) return nullptr;
      if (slots_[at].key == key) return &slots_[at].value;
    }
  }
  // The value of the key, `made` tells that it is new and zero. Null when memory is refused. Addresses of values do not
  // outlive the next call.
  Value* find_or_add(const Key& key, bool* made) {
    *made = false;
    if (Value* found = find(key)) return found;
    if ((count_ + 1) * 2 > capacity() && !grow()) return nullptr;
    *made = true;
    ++count_;
    return &place(key)->value;
  }
  template <typename Use>
  void for_each(Use&& use) {
    for (std::size_t i = 0; i < capacity(); ++i) {
      if (slots_[i].used) use(static_cast<const Key&>(slots_[i].key), slots_[i].value);
    }
  }
  std::size_t size() const { return count_; }
  void clear() {
    if (slots_ != nullptr) base::raw::unmap(slots_, capacity() * sizeof(Slot));
    slots_ = nullptr;
    mask_ = count_ = 0;
  }

 private:
  struct Slot {
    Key key;
    Value value;
    bool used;
  };
  std::size_t capacity() const { return slots_ == nullptr ? 0 : mask_ + 1; }
  Slot* place(const Key& key) {
    std::size_t at = key.hash() & mask_;
    while (slots_[at].used) at = (at + 1) & mask_;
    slots_[at].used = true;
    slots_[at].key = key;
    return &slots_[at];
  }
  bool grow() {
    const std::size_t old_capacity = capacity();
    const std::size_t wanted = old_capacity == 0 ? 64 : old_capacity * 2;
    auto* fresh = static_cast<Slot*>(base::raw::map(wanted * sizeof(Slot)));
    if (fresh == nullptr) return false;
    Slot* old = slots_;
    slots_ = fresh;
    mask_ = wanted - 1;
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (old[i].used) place(old[i].key)->value = old[i].value;
    }
    if (old != nullptr) base::raw::unmap(old, old_capacity * sizeof(Slot));
    return true;
  }

  Slot* slots_ = nullptr;
  std::size_t mask_ = 0;
  std::size_t count_ = 0;
};

struct WordKey {
  std::uint64_t word;
  std::uint64_t hash() const { return mix(word); }
  bool operator==(const WordKey& other) const { return word == other.word; }
};

}  // namespace dft::gpu
