// SPDX-License-Identifier: MIT
#include "session/keyed_texts.h"

#include <cstring>
#include <utility>

#include "base/hash.h"

namespace dft::session {

namespace {
constexpr std::size_t kFirstSlots = 1024;
constexpr std::uint64_t kWorthCompacting = 64 * 1024;
constexpr std::size_t kLongest = UINT32_MAX;
}  // namespace

bool KeyedTexts::put(std::string_view key, std::string_view text) {
  if (key.size() > kLongest || text.size() > kLongest) return false;
  if (size() * 2 >= slot_count() && !make_slots()) return false;
  const std::uint64_t hash = base::table_hash(key);
  const std::uint32_t number = *slot_of(key, hash);
  return number != 0 ? replace(entry(number - 1), text) : add(key, hash, text);
}

// The slot of the key, or the free one that it would get. REQUIRES: a free slot.
std::uint32_t* KeyedTexts::slot_of(std::string_view wanted, std::uint64_t hash) {
  const std::size_t mask = slot_count() - 1;
  std::size_t i = hash & mask;
  for (; slots()[i] != 0; i = (i + 1) & mask) {
    const std::uint32_t index = slots()[i] - 1;
    if (entry(index).hash == hash && key(index) == wanted) break;
  }
  return slots() + i;
}

bool KeyedTexts::make_slots() {
  const std::size_t count = slot_count() == 0 ? kFirstSlots : slot_count() * 2;
  base::Buffer bigger;
  if (count > kLongest || !bigger.reserve(count * sizeof(std::uint32_t))) return false;
  std::memset(bigger.end(), 0, count * sizeof(std::uint32_t));
  bigger.advance(count * sizeof(std::uint32_t));
  slots_ = std::move(bigger);
  for (std::size_t number = 0; number < size(); ++number) {
    std::size_t i = entry(number).hash & (count - 1);
    while (slots()[i] != 0) i = (i + 1) & (count - 1);
    slots()[i] = static_cast<std::uint32_t>(number + 1);
  }
  return true;
}

bool KeyedTexts::add(std::string_view key, std::uint64_t hash, std::string_view text) {
  if (!entries_.reserve(sizeof(Entry)) || !bytes_.reserve(key.size() + text.size())) return false;
  const auto text_size = static_cast<std::uint32_t>(text.size());
  const Entry fresh = {hash,      bytes_.size(), bytes_.size() + key.size(), static_cast<std::uint32_t>(key.size()),
                       text_size, text_size};
  bytes_.append(key);
  bytes_.append(text);
  *slot_of(key, hash) = static_cast<std::uint32_t>(size() + 1);
  entries_.append(reinterpret_cast<const char*>(&fresh), sizeof fresh);
  return true;
}

bool KeyedTexts::replace(Entry& old, std::string_view text) {
  if (text.size() > old.text_room) {
    if (!bytes_.reserve(text.size())) return false;
    replaced_ += old.text_room;
    old.text_at = bytes_.size();
    old.text_room = static_cast<std::uint32_t>(text.size());
    bytes_.append(text);
  } else if (!text.empty()) {
    std::memcpy(bytes_.data() + old.text_at, text.data(), text.size());
  }
  old.text_size = static_cast<std::uint32_t>(text.size());
  if (replaced_ > kWorthCompacting && replaced_ > bytes_.size() / 2) drop_replaced();
  return true;
}

void KeyedTexts::drop_replaced() {
  base::Buffer kept;
  if (!kept.reserve(bytes_.size() - replaced_)) return;  // no memory: the next replacement tries again
  for (std::size_t i = 0; i < size(); ++i) {
    Entry& moved = entry(i);
    const std::uint64_t key_at = kept.size();
    kept.append(key(i));
    const std::uint64_t text_at = kept.size();
    kept.append(bytes_.data() + moved.text_at, moved.text_room);
    moved.key_at = key_at;
    moved.text_at = text_at;
  }
  bytes_ = std::move(kept);
  replaced_ = 0;
}

void KeyedTexts::release() {
  for (base::Buffer* buffer : {&entries_, &bytes_, &slots_}) buffer->release();
  replaced_ = 0;
}

void KeyedTexts::forget_after_fork() {
  for (base::Buffer* buffer : {&entries_, &bytes_, &slots_}) buffer->forget();
  replaced_ = 0;
}

}  // namespace dft::session
