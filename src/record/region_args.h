// SPDX-License-Identifier: MIT
// Purpose: the args of one open region: put behind each other while a schema can hold them, self-describing from the
//          first one on that it cannot.
// Threads: the one that holds `busy` of the slot.
// Invariant: at any moment slot.extent agrees with the bytes that it covers, but for the moment in which a list becomes
//            self-describing within its slot (a region whose args do not decode is then written without them).
#pragma once

#include <cstddef>

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
// The same for all regions of a chunk. REQUIRES: nobody records.
void drop_args_in(model::ChunkHeader* regions);

// An extent as the word that it is: what is added to the schema and to the bytes is added at once.
inline constexpr int kBytesShift = 32;
static_assert(offsetof(model::ArgExtent, schema) == 0 && offsetof(model::ArgExtent, bytes) * 8 == kBytesShift);
inline std::uint64_t word_of(model::ArgExtent extent) {
  std::uint64_t word;
  std::memcpy(&word, &extent, sizeof word);
  return word;
}
inline model::ArgExtent extent_of(std::uint64_t word) {
  model::ArgExtent extent;
  std::memcpy(&extent, &word, sizeof extent);
  return extent;
}

// Room for one more value of `size` bytes, at most kMostQuick, when the slot's schema knows the next one; `extent` is
// then the one to store.
inline constexpr std::size_t kMostQuick = 8 + 64;
[[gnu::always_inline]] inline char* next_value(model::RegionSlot& slot, const model::ShortField& field,
                                               std::size_t size, model::ArgExtent& extent) {
  const std::uint64_t word = word_of(slot.extent.load(std::memory_order_relaxed));
  // A spilled list has no edges.
  const std::uint64_t step = recorder.schemas.step_from(static_cast<std::uint32_t>(word), field);
  const std::uint64_t bytes = word >> kBytesShift;
  if (__builtin_expect(step == 0 || bytes > sizeof slot.args - size, 0)) return nullptr;
  extent = extent_of(word + step + (std::uint64_t{size} << kBytesShift));
  return slot.args + bytes;
}

// The quick ways, without a call; false when put_any() has to do it.
[[gnu::always_inline]] inline bool put_word(model::RegionSlot& slot, const model::ShortField& field,
                                            std::uint64_t bits) {
  model::ArgExtent extent;
  char* at = next_value(slot, field, 8, extent);
  if (__builtin_expect(at == nullptr, 0)) return false;
  std::memcpy(at, &bits, 8);
  slot.extent.store(extent, std::memory_order_relaxed);
  return true;
}

[[gnu::always_inline]] inline bool put_text(model::RegionSlot& slot, const model::ShortField& field, const char* text,
                                            std::size_t length) {
  if (__builtin_expect(length > kMostQuick - 8, 0)) return false;
  model::ArgExtent extent;
  const std::size_t size = 8 + model::padded8(length);
  char* at = next_value(slot, field, size, extent);
  if (__builtin_expect(at == nullptr, 0)) return false;
  std::memcpy(at, &length, 8);
  model::copy_padded(at + 8, text, length);
  slot.extent.store(extent, std::memory_order_relaxed);
  return true;
}

}  // namespace dft::record
