// SPDX-License-Identifier: MIT
#include "record/regions.h"

#include <cstring>

#include "record/entry.h"

namespace dft::record {

using model::ArgHeader;
using model::ArgType;
using model::ChunkHeader;
using model::ChunkKind;
using model::RecordHeader;
using model::RecordKind;
using model::RegionSlot;

namespace {

constexpr int kSlotsPerRefill = 8;
constexpr std::uint32_t kOpen = 1;

Region* handle_of(RegionSlot* slot) {
  return reinterpret_cast<Region*>(reinterpret_cast<std::uintptr_t>(slot) | slot->uses << kHandleTagShift);
}

// The slot behind a handle, or null when the handle is stale or stray.
[[gnu::noinline]] RegionSlot* find_slot(const Region* region) {
  const auto bits = reinterpret_cast<std::uintptr_t>(region);
  const std::uintptr_t address = bits & ((std::uintptr_t{1} << kHandleTagShift) - 1);
  const std::uintptr_t base = address & ~std::uintptr_t{model::kChunkSize - 1};
  if (region == nullptr || !recorder.is_region_chunk(reinterpret_cast<const void*>(base))) return nullptr;
  const std::uintptr_t offset = address - base - sizeof(ChunkHeader);
  if (address - base < sizeof(ChunkHeader) || offset % sizeof(RegionSlot) != 0) return nullptr;
  auto* slot = reinterpret_cast<RegionSlot*>(address);
  const bool open = slot->state.load(std::memory_order_acquire) == kOpen;
  return open && (slot->uses & 0xffff) == bits >> kHandleTagShift ? slot : nullptr;
}

inline RegionSlot* slot_of(const ThreadState* state, const Region* region) {
  if (__builtin_expect(state->last_handle == region, 1)) {
    // Another thread may have closed it: then the use count moved on.
    RegionSlot* slot = state->last_slot;
    if (slot->state.load(std::memory_order_acquire) == kOpen && handle_of(slot) == region) return slot;
  }
  return find_slot(region);
}

char* args_of(RegionSlot* slot) { return slot->spilled != 0 ? slot->spill->data() : slot->args; }
std::size_t args_room(const RegionSlot* slot) {
  return slot->spilled != 0 ? slot->spill->capacity() : sizeof slot->args;
}

// Takes slots that other threads closed, else fresh ones; a new chunk when there are none. Signals are blocked, because
// a handler of this thread would take from the same places.
[[gnu::noinline]] RegionSlot* refill(ThreadState* state) {
  // Never restarts: a handle from before the end of recording must not match a slot at the same address afterwards.
  static std::atomic<std::uint64_t> refills{0};
  const base::SignalGuard signals;
  const std::uint64_t first_use = refills.fetch_add(1, std::memory_order_relaxed) * 251;
  if (RegionSlot* returned = state->returned.exchange(nullptr, std::memory_order_acquire)) return returned;
  ChunkHeader* chunk = state->region_chunks.load(std::memory_order_relaxed);
  std::uint64_t used = chunk != nullptr ? chunk->committed.load(std::memory_order_relaxed) : 0;
  if (chunk == nullptr || chunk->capacity() - used < sizeof(RegionSlot)) {
    if (!recorder.add_region_chunk(state)) return nullptr;
    chunk = state->region_chunks.load(std::memory_order_relaxed);
    used = 0;
  }
  RegionSlot* first = nullptr;
  for (int i = 0; i < kSlotsPerRefill && chunk->capacity() - used >= sizeof(RegionSlot); ++i) {
    auto* slot = reinterpret_cast<RegionSlot*>(chunk->data() + used);
    used += sizeof(RegionSlot);
    // The chunk may have held records before: only a slot that says "free" may become visible to recovery.
    slot->state.store(0, std::memory_order_relaxed);
    slot->spilled = 0;
    slot->busy = 0;
    slot->uses = first_use;
    slot->owner = state;
    slot->next_free = first;
    first = slot;
  }
  chunk->committed.store(used, std::memory_order_release);
  return first;
}

void release(ThreadState* state, RegionSlot* slot) {
  if (__builtin_expect(slot->spilled != 0, 0)) {
    const base::SignalGuard signals;
    recorder.pool.give_back(slot->spill);
    slot->spilled = 0;
  }
  slot->uses += 1;
  slot->state.store(0, std::memory_order_release);
  if (__builtin_expect(slot->owner == state, 1)) {
    RegionSlot*& list = state->free_slots[state->level.load(std::memory_order_relaxed) - 1];
    slot->next_free = list;
    list = slot;
    return;
  }
  auto* owner = static_cast<ThreadState*>(slot->owner);
  RegionSlot* head = owner->returned.load(std::memory_order_relaxed);
  do {
    slot->next_free = head;
  } while (!owner->returned.compare_exchange_weak(head, slot, std::memory_order_release, std::memory_order_relaxed));
}

inline void close(Region* region, RecordKind kind, std::uint8_t extra_flags, base::Ticks end) {
  ThreadState* state = enter();
  if (state == nullptr) return;
  RegionSlot* slot = slot_of(state, region);
  if (slot != nullptr) {
    const std::size_t size = sizeof(RecordHeader) + slot->arg_bytes;
    if (char* at = reserve(state, size)) {
      auto& header = *reinterpret_cast<RecordHeader*>(at);
      header.size = static_cast<std::uint32_t>(size);
      header.kind = kind;
      header.flags = static_cast<std::uint8_t>(slot->flags | extra_flags);
      header.arg_count = slot->arg_count;
      header.site = slot->site;
      header.lane = 0;
      header.begin = slot->begin;
      header.end = extra_flags == model::kFlagInstant ? slot->begin : end;
      if (slot->arg_bytes <= sizeof slot->args) {
        model::copy_words(at + sizeof header, args_of(slot), slot->arg_bytes);
      } else {
        std::memcpy(at + sizeof header, args_of(slot), slot->arg_bytes);
      }
      commit(state, size);
    }
    release(state, slot);
  }
  leave(state);
}

// Moves the args to a chunk with room for `bytes`.
[[gnu::noinline]] bool spill(RegionSlot* slot, std::size_t bytes) {
  const base::SignalGuard signals;
  ChunkHeader* bigger = recorder.pool.take(ChunkKind::kSpill, bytes + bytes / 2, true);
  if (bigger == nullptr) return false;
  bigger->pid = recorder.pid();
  bigger->tid = slot->tid;
  std::memcpy(bigger->data(), args_of(slot), slot->arg_bytes);
  bigger->committed.store(slot->arg_bytes, std::memory_order_release);
  ChunkHeader* old = slot->spilled != 0 ? slot->spill : nullptr;
  slot->spill = bigger;
  slot->spill_slot = bigger->file_slot;
  slot->spilled = 1;
  if (old != nullptr) recorder.pool.give_back(old);
  return true;
}

// Finds the arg of this key, null if there is none. `word`: the key's leading word.
[[gnu::noinline]] char* find_arg(char* at, char* end, std::string_view key, std::uint64_t word) {
  while (at < end) {
    ArgHeader header;
    std::memcpy(&header, at, sizeof header);
    if (header.key_len == key.size() && header.type < ArgType::kRelation) {
      std::uint64_t known = 0;
      if (!key.empty()) std::memcpy(&known, at + sizeof header, sizeof known);
      const bool same =
          known == word && (key.size() <= 8 || std::memcmp(at + sizeof header, key.data(), key.size()) == 0);
      if (same) return at;
    }
    at += model::arg_size(header.key_len, header.value_len);
  }
  return nullptr;
}

// Room for one more arg behind the others, or null (counted).
inline char* room_for(RegionSlot* slot, std::size_t size) {
  if (__builtin_expect(args_room(slot) - slot->arg_bytes < size, 0) && !spill(slot, slot->arg_bytes + size)) {
    auto* owner = static_cast<ThreadState*>(slot->owner);
    owner->losses[static_cast<int>(LossCause::kNoMemory)].add(size, base::clock_now());
    return nullptr;
  }
  return args_of(slot) + slot->arg_bytes;
}

// One of 64 bits for a key. A clear bit in the slot's filter saves the search.
inline std::uint64_t filter_bit(std::uint64_t word, std::size_t size) {
  return std::uint64_t{1} << ((word + size) * 0x9e3779b97f4a7c15ull >> 58);
}

inline void count_arg(RegionSlot* slot, std::size_t size) {
  slot->arg_bytes += static_cast<std::uint32_t>(size);
  slot->arg_count = static_cast<std::uint16_t>(slot->arg_count + 1);
}

// The last write to a key wins: an arg of the same key and size is overwritten, another one marked as dropped.
void put(RegionSlot* slot, ArgType type, std::string_view key, const void* value, std::size_t value_len) {
  if (type != ArgType::kRelation) {
    const std::uint64_t word = model::leading_word(key.data(), key.size());
    const std::uint64_t bit = filter_bit(word, key.size());
    char* args = args_of(slot);
    char* known = (slot->key_filter & bit) != 0 ? find_arg(args, args + slot->arg_bytes, key, word) : nullptr;
    slot->key_filter |= bit;
    if (known != nullptr) {
      auto* header = reinterpret_cast<ArgHeader*>(known);
      if (header->value_len == value_len) {
        model::put_arg(known, type, key, value, value_len);
        return;
      }
      header->type = ArgType::kDropped;
    }
  }
  const std::size_t size = model::arg_size(key.size(), value_len);
  char* at = room_for(slot, size);
  if (at == nullptr) return;
  model::put_arg(at, type, key, value, value_len);
  count_arg(slot, size);
}

// Room for an arg under a short key: the place of the arg that it overwrites, or behind the others. Null if refused.
[[gnu::noinline]] char* place_of_known(RegionSlot* slot, std::uint64_t key_word, std::uint32_t key_len,
                                       std::size_t value_len) {
  char key[8];
  std::memcpy(key, &key_word, sizeof key);
  char* args = args_of(slot);
  char* at = find_arg(args, args + slot->arg_bytes, {key, key_len}, key_word);
  if (at == nullptr || reinterpret_cast<ArgHeader*>(at)->value_len == value_len) return at;
  reinterpret_cast<ArgHeader*>(at)->type = ArgType::kDropped;
  return nullptr;
}

[[gnu::always_inline]] inline char* place_for(RegionSlot* slot, std::uint64_t key_word, std::uint32_t key_len,
                                              std::size_t value_len) {
  const std::uint64_t bit = filter_bit(key_word, key_len);
  if (__builtin_expect((slot->key_filter & bit) != 0, 0)) {
    if (char* at = place_of_known(slot, key_word, key_len, value_len)) return at;
  }
  slot->key_filter |= bit;
  const std::size_t size = model::arg_size(8, value_len);
  char* at = slot->args + slot->arg_bytes;
  if (__builtin_expect(slot->spilled != 0 || sizeof slot->args - slot->arg_bytes < size, 0)) at = room_for(slot, size);
  if (at != nullptr) count_arg(slot, size);
  return at;
}

[[gnu::always_inline]] inline void put_key(char* at, ArgType type, std::uint64_t key_word, std::uint32_t key_len,
                                           std::size_t value_len) {
  const std::uint64_t header = model::arg_header_word(type, key_len, value_len);
  std::memcpy(at, &header, 8);
  std::memcpy(at + 8, &key_word, 8);
}

// Runs `change` on the region's slot with the list of args protected.
template <class Change>
[[gnu::always_inline]] inline void change_args(Region* region, const Change& change) {
  if (region == nullptr) return;
  ThreadState* state = enter();
  if (state == nullptr) return;
  RegionSlot* slot = slot_of(state, region);
  // `busy`: a handler interrupted an update of this very region; its own update of it must not touch the half-made
  // list.
  if (slot != nullptr && slot->busy == 0 && (slot->flags & model::kFlagMetadataEvent) == 0) {
    slot->busy = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    change(slot);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    slot->busy = 0;
  }
  leave(state);
}

void add_scalar(Region* region, ArgType type, std::string_view key, std::uint64_t value) {
  if (key.size() - 1 < 8) {
    add_word(region, type, model::leading_word(key.data(), key.size()), static_cast<std::uint32_t>(key.size()), value);
    return;
  }
  change_args(region, [&](RegionSlot* slot) { put(slot, type, key.substr(0, 0xffff), &value, 8); });
}

}  // namespace

Region* open_region(model::SiteId site, bool metadata_event) {
  ThreadState* state = enter();
  if (state == nullptr) return nullptr;
  RegionSlot*& list = state->free_slots[state->level.load(std::memory_order_relaxed) - 1];
  if (__builtin_expect(list == nullptr, 0)) list = refill(state);
  RegionSlot* slot = list;
  Region* handle = nullptr;
  if (__builtin_expect(slot != nullptr, 1)) {
    list = slot->next_free;
    slot->tid = state->tid;
    slot->site = site;
    slot->arg_count = 0;
    slot->arg_bytes = 0;
    slot->flags = metadata_event ? model::kFlagMetadataEvent : 0;
    slot->key_filter = 0;
    handle = handle_of(slot);
    state->last_handle = handle;
    state->last_slot = slot;
    slot->begin = base::clock_now();
    slot->state.store(kOpen, std::memory_order_release);
  } else {
    state->losses[static_cast<int>(LossCause::kNoMemory)].add(sizeof(RecordHeader), base::clock_now());
  }
  leave(state);
  return handle;
}

void close_region(Region* region) {
  if (region == nullptr) return;
  const base::Ticks end = base::clock_now();
  close(region, RecordKind::kEvent, 0, end);
}

void close_as_metadata(Region* region) {
  if (region != nullptr) close(region, RecordKind::kMetadata, 0, 0);
}

void close_as_instant(Region* region) {
  if (region != nullptr) close(region, RecordKind::kEvent, model::kFlagInstant, 0);
}

bool is_open(const Region* region) { return find_slot(region) != nullptr; }

void add_word(Region* region, ArgType type, std::uint64_t key_word, std::uint32_t key_len, std::uint64_t bits) {
  change_args(region, [&](RegionSlot* slot) {
    char* at = place_for(slot, key_word, key_len, 8);
    if (at == nullptr) return;
    put_key(at, type, key_word, key_len, 8);
    std::memcpy(at + 16, &bits, 8);
  });
}

void add_string(Region* region, std::uint64_t key_word, std::uint32_t key_len, std::string_view value) {
  change_args(region, [&](RegionSlot* slot) {
    char* at = place_for(slot, key_word, key_len, value.size());
    if (at == nullptr) return;
    put_key(at, ArgType::kString, key_word, key_len, value.size());
    if (value.size() <= 64) {
      model::copy_padded(at + 16, value.data(), value.size());
    } else {
      std::memcpy(at + 16, value.data(), value.size());
    }
  });
}

void add_int64(Region* region, std::string_view key, std::int64_t value) {
  add_scalar(region, ArgType::kInt64, key, static_cast<std::uint64_t>(value));
}
void add_uint64(Region* region, std::string_view key, std::uint64_t value) {
  add_scalar(region, ArgType::kUint64, key, value);
}
void add_double(Region* region, std::string_view key, double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  add_scalar(region, ArgType::kDouble, key, bits);
}
void add_bool(Region* region, std::string_view key, bool value) {
  add_scalar(region, ArgType::kBool, key, value ? 1 : 0);
}
void add_string(Region* region, std::string_view key, std::string_view value) {
  change_args(region, [&](RegionSlot* slot) {
    put(slot, ArgType::kString, key.substr(0, 0xffff), value.data(), value.size());
  });
}
void add_relation(Region* region, std::string_view relation, std::uint64_t entity) {
  change_args(region, [&](RegionSlot* slot) { put(slot, ArgType::kRelation, relation, &entity, 8); });
}

void visit_open_regions(OpenRegionVisitor& visitor) {
  for (ThreadState* state = recorder.threads(); state != nullptr; state = state->next) {
    for (ChunkHeader* chunk = state->region_chunks.load(std::memory_order_acquire); chunk != nullptr;
         chunk = chunk->next) {
      const std::uint64_t used = chunk->committed.load(std::memory_order_acquire);
      for (std::uint64_t at = 0; at + sizeof(RegionSlot) <= used; at += sizeof(RegionSlot)) {
        auto* slot = reinterpret_cast<RegionSlot*>(chunk->data() + at);
        if (slot->state.load(std::memory_order_acquire) == kOpen) visitor.visit(*slot, args_of(slot));
      }
    }
  }
}

}  // namespace dft::record
