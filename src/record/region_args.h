// SPDX-License-Identifier: MIT
// Purpose: the args of one open region: put behind each other while a schema can hold them, self-describing from the
//          first one on that it cannot.
// Threads: the one that holds `busy` of the slot.
// Invariant: at any moment slot.extent agrees with the bytes that it covers, but for the moment in which a list becomes
//            self-describing within its slot (a region whose args do not decode is then written without them).
#pragma once

#include "model/crash_file.h"
#include "record/recorder.h"

namespace dft::record {

inline char* args_of(model::RegionSlot& slot) {
  return slot.extent.load(std::memory_order_relaxed).spilled != 0 ? slot.spill->data() : slot.args;
}

// Any arg, the slow way. The last write to a key wins. False when memory is refused.
bool put_any(model::RegionSlot& slot, model::ArgType type, std::string_view key, const void* value,
             std::size_t value_len);

// The args of a region that is closed are no longer needed.
void drop_args(model::RegionSlot& slot);

// Room for one more value of `size` bytes when the slot's schema knows the next one; `extent` is then the one to store.
[[gnu::always_inline]] inline char* next_value(model::RegionSlot& slot, model::ArgType type, std::uint64_t key_word,
                                               std::uint32_t key_len, std::size_t size, model::ArgExtent& extent) {
  extent = slot.extent.load(std::memory_order_relaxed);
  // A spilled list has no edges.
  const std::uint32_t from = extent.schema | std::uint32_t{extent.spilled} << 16;
  const model::SchemaId next = recorder.schemas.after(from, type, key_word, key_len);
  if (__builtin_expect(next == model::kNoArgs || size > sizeof slot.args - extent.bytes, 0)) return nullptr;
  char* at = slot.args + extent.bytes;
  extent.schema = next;
  extent.bytes += static_cast<std::uint32_t>(size);
  return at;
}

// The quick ways, without a call; false when put_any() has to do it. The key: 1 to 8 bytes as a word.
[[gnu::always_inline]] inline bool put_word(model::RegionSlot& slot, model::ArgType type, std::uint64_t key_word,
                                            std::uint32_t key_len, std::uint64_t bits) {
  model::ArgExtent extent;
  char* at = next_value(slot, type, key_word, key_len, 8, extent);
  if (__builtin_expect(at == nullptr, 0)) return false;
  std::memcpy(at, &bits, 8);
  slot.extent.store(extent, std::memory_order_relaxed);
  return true;
}

[[gnu::always_inline]] inline bool put_text(model::RegionSlot& slot, std::uint64_t key_word, std::uint32_t key_len,
                                            std::string_view text) {
  constexpr std::size_t kShort = 64;
  if (__builtin_expect(text.size() > kShort, 0)) return false;
  model::ArgExtent extent;
  const std::size_t size = 8 + model::padded8(text.size());
  char* at = next_value(slot, model::ArgType::kString, key_word, key_len, size, extent);
  if (__builtin_expect(at == nullptr, 0)) return false;
  const std::uint64_t length = text.size();
  std::memcpy(at, &length, 8);
  model::copy_padded(at + 8, text.data(), text.size());
  slot.extent.store(extent, std::memory_order_relaxed);
  return true;
}

}  // namespace dft::record
