// SPDX-License-Identifier: MIT
// Purpose: which strings this file has a hash record for, and the digits of the strings used last.
// Threads: one owner.
// Invariant: find() answers only for strings whose hash record is in the file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "base/hash.h"
#include "model/definitions.h"

namespace dft::encode {

class StringCache {
 public:
  explicit StringCache(const model::Definitions& definitions) : definitions_(definitions) {}

  // The 16 digits of a string that this file defines, else null. Valid until the next call.
  const char* find(model::StringId id) {
    if (!recent_.empty()) {
      const Recent& slot = slot_of(id);
      if (__builtin_expect(slot.id == id && id != 0, 1)) return slot.digits;
    }
    return find_slowly(id);
  }

  // The definition of an id with digits that are surely hex (recovered memory is not believed). False when unknown.
  bool lookup(model::StringId id, model::StringDef& out) const;

  bool is_defined(model::StringKind kind, const char digits[16]) const;
  bool set_defined(model::StringKind kind, const char digits[16]);  // false when memory is refused
  void clear();
  void forget() {  // fork child: without unmapping
    recent_.forget();
    set_.forget();
    used_ = 0;
  }

 private:
  struct Recent {
    model::StringId id;
    char digits[16];
  };
  static constexpr std::size_t kRecent = 8 * 1024;

  Recent& slot_of(model::StringId id) { return reinterpret_cast<Recent*>(recent_.data())[id & (kRecent - 1)]; }
  std::uint64_t* slots() { return reinterpret_cast<std::uint64_t*>(set_.data()); }
  const std::uint64_t* slots() const { return reinterpret_cast<const std::uint64_t*>(set_.data()); }
  std::size_t slot_count() const { return set_.size() / sizeof(std::uint64_t); }
  const char* find_slowly(model::StringId id);
  bool make_room();
  void insert(std::uint64_t key);

  const model::Definitions& definitions_;
  base::Buffer recent_;  // direct-mapped by id
  base::Buffer set_;     // open addressing, a power of two of slots, 0 = free
  std::size_t used_ = 0;
  char digits_[16];
};

bool is_hash_text(const char digits[16]);  // 16 lower-case hex digits

}  // namespace dft::encode
