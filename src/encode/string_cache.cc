// SPDX-License-Identifier: MIT
#include "encode/string_cache.h"

#include <cstring>
#include <utility>

namespace dft::encode {
namespace {

constexpr std::size_t kFirstSlots = 8 * 1024;

bool fill_zero(base::Buffer& buffer, std::size_t size) {
  if (!buffer.reserve(size)) return false;
  std::memset(buffer.end(), 0, size);
  buffer.advance(size);
  return true;
}

// The digits are MD5 bits already: they need no further mixing.
std::uint64_t key_of(model::StringKind kind, const char digits[16]) {
  std::uint64_t key = 0;
  for (unsigned i = 0; i < 16; ++i) {
    const auto c = static_cast<unsigned char>(digits[i]);
    key = key << 4 | ((c & 15u) + (c >> 6) * 9u);
  }
  key ^= std::uint64_t{static_cast<std::uint8_t>(kind)} << 61;
  return key != 0 ? key : 1;
}

}  // namespace

bool is_hash_text(const char digits[16]) {
  for (unsigned i = 0; i < 16; ++i) {
    const char c = digits[i];
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
  }
  return true;
}

bool StringCache::lookup(model::StringId id, model::StringDef& out) const {
  if (id == 0 || !definitions_.string(id, out)) return false;
  if (!is_hash_text(out.hash)) std::memcpy(out.hash, base::string_hash(out.bytes).digits, sizeof out.hash);
  return true;
}

const char* StringCache::find_slowly(model::StringId id) {
  model::StringDef string;
  if (!lookup(id, string) || !is_defined(string.kind, string.hash)) return nullptr;
  std::memcpy(digits_, string.hash, sizeof digits_);
  if (!recent_.empty() || fill_zero(recent_, kRecent * sizeof(Recent))) {
    Recent& slot = slot_of(id);
    slot.id = id;
    std::memcpy(slot.digits, digits_, sizeof slot.digits);
  }
  return digits_;
}

bool StringCache::is_defined(model::StringKind kind, const char digits[16]) const {
  if (set_.empty()) return false;
  const std::uint64_t key = key_of(kind, digits);
  const std::size_t mask = slot_count() - 1;
  for (std::size_t i = key & mask;; i = (i + 1) & mask) {
    if (slots()[i] == key) return true;
    if (slots()[i] == 0) return false;
  }
}

bool StringCache::make_room() {
  if (set_.empty()) return fill_zero(set_, kFirstSlots * sizeof(std::uint64_t));
  if ((used_ + 1) * 4 <= slot_count() * 3) return true;
  base::Buffer bigger;
  if (!fill_zero(bigger, set_.size() * 2)) return false;
  std::swap(set_, bigger);
  const auto* old = reinterpret_cast<const std::uint64_t*>(bigger.data());
  for (std::size_t i = 0; i < bigger.size() / sizeof(std::uint64_t); ++i) {
    if (old[i] != 0) insert(old[i]);
  }
  return true;
}

void StringCache::insert(std::uint64_t key) {
  const std::size_t mask = slot_count() - 1;
  std::size_t i = key & mask;
  while (slots()[i] != 0) i = (i + 1) & mask;
  slots()[i] = key;
}

bool StringCache::set_defined(model::StringKind kind, const char digits[16]) {
  if (!make_room()) return false;
  insert(key_of(kind, digits));
  ++used_;
  return true;
}

void StringCache::clear() {
  if (!recent_.empty()) std::memset(recent_.data(), 0, recent_.size());
  if (!set_.empty()) std::memset(set_.data(), 0, set_.size());
  used_ = 0;
}

}  // namespace dft::encode
