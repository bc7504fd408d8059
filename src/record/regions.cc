// SPDX-License-Identifier: MIT
#include "record/regions.h"

#include <cstring>

#include "record/entry.h"
#include "record/interrupted.h"
#include "record/region_args.h"

namespace dft::record {

using model::ArgExtent;
using model::ArgType;
using model::ChunkHeader;
using model::RecordHeader;
using model::RecordKind;
using model::RegionSlot;
using model::ShortField;

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
  // Behind them may be slots of an earlier recording, open until its end.
  const auto* chunk = reinterpret_cast<const ChunkHeader*>(base);
  if (offset >= chunk->committed.load(std::memory_order_acquire)) return nullptr;
  auto* slot = reinterpret_cast<RegionSlot*>(address);
  return slot->handle.load(std::memory_order_acquire) == bits ? slot : nullptr;
}

[[gnu::always_inline]] inline bool is_slot_of(const RegionSlot* slot, const Region* region) {
  return slot->handle.load(std::memory_order_acquire) == reinterpret_cast<std::uintptr_t>(region);
}

// The innermost region of the thread if that is the one meant, else null. It is a slot of the thread's own. Slots stay
// mapped, so a stale `innermost` is safe to look at; another thread may have closed it.
[[gnu::always_inline]] inline RegionSlot* innermost_if(const ThreadState* state, const Region* region) {
  RegionSlot* slot = state->innermost;
  if (__builtin_expect(slot == nullptr, 0)) return nullptr;
  return __builtin_expect(is_slot_of(slot, region), 1) ? slot : nullptr;
}

inline bool is_in_handler(const ThreadState* state) { return state->level.load(std::memory_order_relaxed) > 1; }

// Null also for a handler that means the region which the code that it interrupted is about to end.
inline RegionSlot* slot_of(const ThreadState* state, const Region* region) {
  if (is_in_handler(state) && state->closing == region) return nullptr;
  RegionSlot* slot = innermost_if(state, region);
  return slot != nullptr ? slot : find_slot(region);
}

// Before the thread looks whether the region is open. What a handler ended before is closed then; afterwards it keeps
// away (slot_of).
[[gnu::always_inline]] inline void note_closing(ThreadState* state, const Region* region) {
  state->closing = region;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

inline bool is_being_updated(const RegionSlot* slot) {
  return slot->busy != 0 && (slot->flags & model::kFlagMetadataEvent) == 0;
}

// Slots that were closed by others, or in the middle of an update. Their args go only now: the thread, or what a
// handler interrupted, may have been writing them. REQUIRES: signals are blocked.
RegionSlot* take_back(ThreadState* state) {
  if (is_in_handler(state)) return nullptr;
  RegionSlot* closed = state->returned.exchange(nullptr, std::memory_order_acquire);
  for (RegionSlot* slot = closed; slot != nullptr; slot = slot->link) drop_args(*slot);
  while (RegionSlot* slot = state->parked) {
    state->parked = slot->link;
    drop_args(*slot);
    slot->link = closed;
    closed = slot;
  }
  return closed;
}

// Takes slots that come back, else fresh ones; a new chunk when there are none. Signals are blocked, because a handler
// of this thread would take from the same places.
[[gnu::noinline]] RegionSlot* refill(ThreadState* state) {
  // Never restarts: a handle from before the end of recording must not match a slot at the same address afterwards.
  static std::atomic<std::uint64_t> refills{0};
  if (!may_take(state)) return nullptr;
  const base::SignalGuard signals;
  const std::uint64_t first_use = refills.fetch_add(1, std::memory_order_relaxed) * 251;
  if (RegionSlot* closed = take_back(state)) return closed;
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
    slot->handle.store(model::kClosedHandle, std::memory_order_relaxed);
    slot->extent.store(ArgExtent{}, std::memory_order_relaxed);
    slot->busy = 0;
    slot->uses = first_use;
    slot->owner = state;
    slot->link = first;
    first = slot;
  }
  chunk->committed.store(used, std::memory_order_release);
  return first;
}

inline RegionSlot*& free_slots_of(ThreadState* state) {
  return state->free_slots[state->level.load(std::memory_order_relaxed) - 1];
}

[[gnu::always_inline]] inline void mark_closed(RegionSlot* slot) {
  slot->uses += 1;
  slot->handle.store(model::kClosedHandle, std::memory_order_release);
  slot->state.store(0, std::memory_order_release);
}

// `list`: the thread's free slots at its level. REQUIRES: the slot is not the innermost any more.
[[gnu::always_inline]] inline void release_own(RegionSlot* slot, RegionSlot*& list) {
  mark_closed(slot);
  slot->link = list;
  list = slot;
}

void release_of_other(RegionSlot* slot) {
  auto* owner = static_cast<ThreadState*>(slot->owner);
  mark_closed(slot);
  RegionSlot* head = owner->returned.load(std::memory_order_relaxed);
  do {
    slot->link = head;
  } while (!owner->returned.compare_exchange_weak(head, slot, std::memory_order_release, std::memory_order_relaxed));
}

[[gnu::always_inline]] inline void write_header(char* at, const RegionSlot* slot, std::size_t size, RecordKind kind,
                                                std::uint8_t extra_flags, model::SchemaId schema, base::Ticks end) {
  auto& header = *reinterpret_cast<RecordHeader*>(at);
  header.size = static_cast<std::uint32_t>(size);
  header.kind = kind;
  header.flags = static_cast<std::uint8_t>(slot->flags | extra_flags);
  header.schema = schema;
  header.site = slot->site;
  header.lane = 0;
  header.begin = slot->begin;
  header.end = end;
}

// The innermost region, its args in its slot, room in the chunk at hand: without a call.
[[gnu::always_inline]] inline bool try_close(Region* region, base::Ticks end) {
  ThreadState* state = try_enter_outermost();
  if (__builtin_expect(state == nullptr, 0)) return false;
  bool closed = false;
  note_closing(state, region);
  Stream& stream = state->streams[0];
  if (RegionSlot* slot = innermost_if(state, region)) {
    const ArgExtent args = slot->extent.load(std::memory_order_relaxed);
    const std::size_t size = sizeof(RecordHeader) + args.bytes;
    char* at = stream.pos;
    if (__builtin_expect(static_cast<std::size_t>(stream.limit - at) >= size && args.spilled == 0, 1)) {
      write_header(at, slot, size, RecordKind::kEvent, 0, args.schema, end);
      model::copy_words(at + sizeof(RecordHeader), slot->args, args.bytes);
      commit(stream, at + size);
      state->innermost = slot->link;
      release_own(slot, state->free_slots[0]);
      closed = true;
    }
  }
  leave(state, 0);
  return closed;
}

void release(ThreadState* state, RegionSlot* slot) {
  if (slot->owner != state) return release_of_other(slot);
  if (state->innermost == slot) state->innermost = slot->link;
  // A handler's interrupted code goes on to write into the slot and its args.
  if (is_in_handler(state) && is_being_updated(slot)) return release_own(slot, state->parked);
  drop_args(*slot);
  release_own(slot, free_slots_of(state));
}

// The open region that this thread is to end, or null.
RegionSlot* slot_to_end(ThreadState* state, const Region* region) {
  if (!is_in_handler(state)) note_closing(state, region);
  return slot_of(state, region);
}

// `begin`: in place of the region's own when the flags say that the times are nanoseconds.
[[gnu::noinline]] void close_slowly(Region* region, RecordKind kind, std::uint8_t extra_flags, base::Ticks end,
                                    base::Ticks begin = 0) {
  ThreadState* state = enter();
  if (state == nullptr) return;
  RegionSlot* slot = slot_to_end(state, region);
  if (slot != nullptr) {
    const ArgExtent args = slot->extent.load(std::memory_order_relaxed);
    const std::size_t size = sizeof(RecordHeader) + args.bytes;
    if (char* at = reserve(state, size)) {
      write_header(at, slot, size, kind, extra_flags, args.schema,
                   extra_flags == model::kFlagInstant ? slot->begin : end);
      if (extra_flags == model::kFlagNanoseconds) reinterpret_cast<RecordHeader*>(at)->begin = begin;
      if (args.bytes != 0) std::memcpy(at + sizeof(RecordHeader), args_of(*slot), args.bytes);
      commit(state, size);
    }
    release(state, slot);
  }
  leave(state);
}

// Runs `put` on the region's slot with its args protected; false also when the slot is not the region's. `busy`: a
// handler interrupted an update of this very region; its own update of it must not touch the half-made list. It may end
// the region, so only what is busy already is looked at.
template <class Put>
[[gnu::always_inline]] inline bool put_protected(RegionSlot* slot, const Region* region, const Put& put) {
  slot->busy = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const bool good = __builtin_expect(is_slot_of(slot, region), 1) && put(*slot);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot->busy = 0;
  return good;
}

// The innermost region, its schema knows the arg: without a call. False: do it slowly.
template <class Put>
[[gnu::always_inline]] inline bool try_put(Region* region, const Put& put) {
  ThreadState* state = try_enter_outermost();
  if (__builtin_expect(state == nullptr, 0)) return false;
  RegionSlot* slot = state->innermost;
  const bool done = __builtin_expect(slot != nullptr && slot->busy == 0, 1) && put_protected(slot, region, put);
  leave(state, 0);
  return done;
}

[[gnu::noinline]] void put_slowly(Region* region, ArgType type, std::string_view key, const void* value,
                                  std::size_t value_len) {
  if (region == nullptr) return;
  ThreadState* state = enter();
  if (state == nullptr) return;
  RegionSlot* slot = slot_of(state, region);
  if (slot != nullptr && slot->busy == 0) {
    bool refused = false;
    put_protected(slot, region, [&](RegionSlot& taker) {
      refused = !put_any(taker, type, key.substr(0, 0xffff), value, value_len);
      return !refused;
    });
    if (refused) state->losses[static_cast<int>(LossCause::kNoMemory)].add(value_len, base::clock_now());
  }
  leave(state);
}

[[gnu::noinline]] void put_word_slowly(Region* region, ShortField field, std::uint64_t bits) {
  if (field.key().size() - 1 >= 8 || field.type() < ArgType::kInt64 || field.type() > ArgType::kBool) return;
  put_slowly(region, field.type(), field.key(), &bits, 8);
}

[[gnu::noinline]] void put_text_slowly(Region* region, ShortField field, const char* text, std::size_t length) {
  if (field.key().size() - 1 < 8) put_slowly(region, ArgType::kString, field.key(), text, length);
}

ShortField short_field(ArgType type, std::string_view key) {
  return {type, model::leading_word(key.data(), key.size()), static_cast<std::uint32_t>(key.size())};
}

void add_scalar(Region* region, ArgType type, std::string_view key, std::uint64_t value) {
  if (key.size() - 1 < 8) {
    add_word(region, short_field(type, key), value);
    return;
  }
  put_slowly(region, type, key, &value, 8);
}

}  // namespace

namespace {

[[gnu::always_inline]] inline Region* open_slot(ThreadState* state, RegionSlot*& list, model::SiteId site,
                                                std::uint8_t flags) {
  RegionSlot* slot = list;
  list = slot->link;
  slot->tid = state->tid;
  slot->site = site;
  slot->extent.store(ArgExtent{}, std::memory_order_relaxed);
  slot->flags = flags;
  // A metadata event takes no args, ever.
  slot->busy = (flags & model::kFlagMetadataEvent) != 0;
  slot->link = state->innermost;
  state->innermost = slot;
  Region* handle = handle_of(slot);
  slot->handle.store(reinterpret_cast<std::uintptr_t>(handle), std::memory_order_release);
  slot->begin = base::clock_now();
  slot->state.store(kOpen, std::memory_order_release);
  return handle;
}

[[gnu::noinline]] Region* open_slowly(model::SiteId site, std::uint8_t flags) {
  ThreadState* state = enter();
  if (state == nullptr) return nullptr;
  RegionSlot*& list = free_slots_of(state);
  if (list == nullptr) list = refill(state);
  Region* handle = nullptr;
  if (list != nullptr) {
    handle = open_slot(state, list, site, flags);
  } else {
    state->losses[static_cast<int>(LossCause::kNoMemory)].add(sizeof(RecordHeader), base::clock_now());
  }
  leave(state);
  return handle;
}

}  // namespace

Region* open_region(model::SiteId site, bool metadata_event) {
  const std::uint8_t flags = metadata_event ? model::kFlagMetadataEvent : 0;
  ThreadState* state = try_enter_outermost();
  if (__builtin_expect(state == nullptr, 0)) return open_slowly(site, flags);
  RegionSlot*& list = state->free_slots[0];
  if (__builtin_expect(list == nullptr, 0)) {
    leave(state, 0);
    return open_slowly(site, flags);
  }
  Region* handle = open_slot(state, list, site, flags);
  leave(state, 0);
  return handle;
}

void close_region(Region* region) {
  if (region == nullptr) return;
  const base::Ticks end = base::clock_now();
  if (__builtin_expect(!try_close(region, end), 0)) close_slowly(region, RecordKind::kEvent, 0, end);
}

void close_as_metadata(Region* region) {
  if (region != nullptr) close_slowly(region, RecordKind::kMetadata, 0, 0);
}

void close_as_instant(Region* region) {
  if (region != nullptr) close_slowly(region, RecordKind::kEvent, model::kFlagInstant, 0);
}

void close_region_at(Region* region, std::uint64_t begin_ns, std::uint64_t end_ns) {
  if (region != nullptr) close_slowly(region, RecordKind::kEvent, model::kFlagNanoseconds, end_ns, begin_ns);
}

void drop_region(Region* region) {
  if (region == nullptr) return;
  ThreadState* state = enter();
  if (state == nullptr) return;
  RegionSlot* slot = slot_to_end(state, region);
  if (slot != nullptr) release(state, slot);
  leave(state);
}

bool is_open(const Region* region) { return find_slot(region) != nullptr; }

void add_word(Region* region, ShortField field, std::uint64_t bits) {
  const auto put = [&](RegionSlot& slot) { return put_word(slot, field, bits); };
  if (__builtin_expect(!try_put(region, put), 0)) put_word_slowly(region, field, bits);
}

void add_text(Region* region, ShortField field, const char* text, std::size_t length) {
  const auto put = [&](RegionSlot& slot) { return put_text(slot, field, text, length); };
  if (__builtin_expect(!try_put(region, put), 0)) put_text_slowly(region, field, text, length);
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
  if (key.size() - 1 < 8) {
    add_text(region, short_field(ArgType::kString, key), value.data(), value.size());
    return;
  }
  put_slowly(region, ArgType::kString, key, value.data(), value.size());
}
void add_relation(Region* region, std::string_view relation, std::uint64_t entity) {
  put_slowly(region, ArgType::kRelation, relation, &entity, 8);
}

void visit_open_regions(OpenRegionVisitor& visitor) {
  for (ThreadState* state = recorder.threads(); state != nullptr; state = state->next) {
    for (ChunkHeader* chunk = state->region_chunks.load(std::memory_order_acquire); chunk != nullptr;
         chunk = chunk->next) {
      const std::uint64_t used = chunk->committed.load(std::memory_order_acquire);
      for (std::uint64_t at = 0; at + sizeof(RegionSlot) <= used; at += sizeof(RegionSlot)) {
        auto* slot = reinterpret_cast<RegionSlot*>(chunk->data() + at);
        if (slot->state.load(std::memory_order_acquire) == kOpen) visitor.visit(*slot, args_of(*slot));
      }
    }
  }
}

}  // namespace dft::record
