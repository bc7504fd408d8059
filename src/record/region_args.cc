// SPDX-License-Identifier: MIT
#include "record/region_args.h"

#include <cstring>

#include "record/arg_index.h"

namespace dft::record {

using model::ArgCursor;
using model::ArgExtent;
using model::ArgHeader;
using model::ArgType;
using model::ArgView;
using model::ChunkHeader;
using model::RegionSlot;
using model::SchemaId;
using model::SchemaView;

namespace {

ArgExtent extent_of(const RegionSlot& slot) { return slot.extent.load(std::memory_order_relaxed); }

std::size_t room_of(const RegionSlot& slot) {
  return extent_of(slot).spilled != 0 ? slot.spill->capacity() : sizeof slot.args;
}

SchemaView schema_of(const ArgExtent& extent) {
  SchemaView schema;
  if (extent.schema != model::kNoArgs) recorder.definitions.schema(extent.schema, schema);
  return schema;
}

ChunkHeader* take_spill(const RegionSlot& slot, std::size_t bytes) {
  ChunkHeader* chunk = recorder.pool.take(model::ChunkKind::kSpill, bytes + bytes / 2, true);
  if (chunk == nullptr) return nullptr;
  chunk->pid = recorder.pid();
  chunk->tid = slot.tid;
  return chunk;
}

// The args lie in `bigger` from now on. The slot names it before the extent says so.
void move_to(RegionSlot& slot, ChunkHeader* bigger, ArgExtent extent) {
  ChunkHeader* old = extent_of(slot).spilled != 0 ? slot.spill : nullptr;
  if (old != nullptr) hand_on_arg_index(old, bigger);
  bigger->committed.store(extent.bytes, std::memory_order_release);
  slot.spill = bigger;
  slot.spill_slot = bigger->file_slot;
  extent.spilled = 1;
  slot.extent.store(extent, std::memory_order_release);
  if (old != nullptr) recorder.pool.give_back(old);
}

// Room for `size` bytes behind the args, or null.
char* room_for(RegionSlot& slot, std::size_t size) {
  const ArgExtent extent = extent_of(slot);
  if (room_of(slot) - extent.bytes < size) {
    const base::SignalGuard signals;
    ChunkHeader* bigger = take_spill(slot, extent.bytes + size);
    if (bigger == nullptr) return nullptr;
    std::memcpy(bigger->data(), args_of(slot), extent.bytes);
    move_to(slot, bigger, extent);
  }
  return args_of(slot) + extent.bytes;
}

void grow(RegionSlot& slot, std::size_t size, SchemaId schema) {
  ArgExtent extent = extent_of(slot);
  extent.bytes += static_cast<std::uint32_t>(size);
  extent.schema = schema;
  slot.extent.store(extent, std::memory_order_release);
}

std::size_t self_describing_size(ArgCursor cursor) {
  std::size_t size = 0;
  for (ArgView arg; cursor.next(arg);) size += model::arg_size(arg.key_len, arg.value_len);
  return size;
}

void write_self_describing(ArgCursor cursor, char* to) {
  for (ArgView arg; cursor.next(arg);) {
    model::put_arg(to, arg.type, {arg.key, arg.key_len}, arg.value, arg.value_len);
    to += model::arg_size(arg.key_len, arg.value_len);
  }
}

// Gives every arg its key. False when memory is refused.
bool make_self_describing(RegionSlot& slot) {
  ArgExtent extent = extent_of(slot);
  if (extent.schema == model::kSelfDescribing) return true;
  const ArgCursor args(args_of(slot), extent.bytes, schema_of(extent));
  const std::size_t size = self_describing_size(args);
  extent.schema = model::kSelfDescribing;
  extent.bytes = static_cast<std::uint32_t>(size);
  if (size <= sizeof slot.args && extent.spilled == 0) {
    alignas(8) char list[sizeof slot.args];
    write_self_describing(args, list);
    std::memcpy(slot.args, list, size);
    slot.extent.store(extent, std::memory_order_release);
    return true;
  }
  const base::SignalGuard signals;
  ChunkHeader* bigger = take_spill(slot, size);
  if (bigger == nullptr) return false;
  write_self_describing(args, bigger->data());
  move_to(slot, bigger, extent);
  return true;
}

// Overwrites the value of a key that the schema has. False when the new one does not fit its place.
bool overwrite_value(RegionSlot& slot, std::string_view key, const void* value, std::size_t value_len) {
  const ArgExtent extent = extent_of(slot);
  ArgCursor cursor(args_of(slot), extent.bytes, schema_of(extent));
  for (ArgView arg; cursor.next(arg);) {
    if (std::string_view(arg.key, arg.key_len) != key) continue;
    if (arg.value_len != value_len) return false;
    if (value_len != 0) std::memcpy(const_cast<char*>(arg.value), value, value_len);
    return true;
  }
  return false;
}

bool put_by_schema(RegionSlot& slot, SchemaId next, ArgType type, const void* value, std::size_t value_len) {
  const bool text = model::is_text(type);
  const std::size_t size = text ? 8 + model::padded8(value_len) : 8;
  char* at = room_for(slot, size);
  if (at == nullptr) return false;
  if (text) {
    const std::uint64_t length = value_len;
    std::memcpy(at, &length, 8);
    at += 8;
  }
  model::copy_value(at, value, value_len);
  grow(slot, size, next);
  return true;
}

ArgHeader* find_self_describing(RegionSlot& slot, std::string_view key) {
  const ArgExtent extent = extent_of(slot);
  if (extent.spilled != 0) return find_arg(slot.spill, extent.bytes, key);
  unsigned steps = 0;
  return find_arg(slot.args, extent.bytes, key, &steps);
}

// The last write to a key wins: an arg of the same key and size is overwritten, another one marked as dropped.
bool put_self_describing(RegionSlot& slot, ArgType type, std::string_view key, const void* value,
                         std::size_t value_len) {
  if (type != ArgType::kRelation) {
    if (ArgHeader* same = find_self_describing(slot, key)) {
      if (same->value_len == value_len) {
        model::put_arg(reinterpret_cast<char*>(same), type, key, value, value_len);
        return true;
      }
      same->type = ArgType::kDropped;
    }
  }
  const std::size_t size = model::arg_size(key.size(), value_len);
  char* at = room_for(slot, size);
  if (at == nullptr) return false;
  model::put_arg(at, type, key, value, value_len);
  if (type != ArgType::kRelation && extent_of(slot).spilled != 0) note_arg(slot.spill, extent_of(slot).bytes, key);
  grow(slot, size, model::kSelfDescribing);
  return true;
}

}  // namespace

bool put_any(RegionSlot& slot, ArgType type, std::string_view key, const void* value, std::size_t value_len) {
  const SchemaId schema = extent_of(slot).schema;
  const SchemaId next = recorder.schemas.extend(schema, type, key);
  if (next != model::kSelfDescribing) {
    if (next != schema) return put_by_schema(slot, next, type, value, value_len);
    if (overwrite_value(slot, key, value, value_len)) return true;
  }
  return make_self_describing(slot) && put_self_describing(slot, type, key, value, value_len);
}

void drop_args(RegionSlot& slot) {
  if (extent_of(slot).spilled == 0) return;
  const base::SignalGuard signals;
  // A fork looks at what is spilled (interrupted.cc): no slot names a chunk that was given back.
  slot.extent.store(ArgExtent{}, std::memory_order_release);
  drop_arg_index(slot.spill);
  recorder.pool.give_back(slot.spill);
}

void drop_args_in(model::ChunkHeader* regions) {
  const std::uint64_t used = regions->committed.load(std::memory_order_acquire);
  for (std::uint64_t at = 0; at + sizeof(RegionSlot) <= used; at += sizeof(RegionSlot)) {
    drop_args(*reinterpret_cast<RegionSlot*>(regions->data() + at));
  }
}

}  // namespace dft::record
