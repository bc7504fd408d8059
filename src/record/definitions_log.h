// SPDX-License-Identifier: MIT
// Purpose: the process's table of names: (name, category, layer) triples, hashed strings and schemas of args, each with
//          a stable id.
// Threads: look-ups are lock-free; so are additions while there is room for them. Making room, and in crash-safe mode
//          every addition, takes one lock with signals blocked, whose two system calls would be half of a new name's
//          cost. Ids stay valid for the life of the process, across restarts of recording and in forked children
//          (private memory, copied by the kernel).
// Invariants:
//   1. An id is given out only after its entry is whole. An addition that never went on (a handler left by longjmp, a
//      thread of the parent of this process) leaves an id without an entry, which nobody has.
//   2. The same name has one id: who adds it second finds the slot taken, or the table frozen and then its successor.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/futex_lock.h"
#include "model/chunk.h"
#include "model/definitions.h"
#include "record/chunk_pool.h"

namespace dft::record {

class DefinitionsLog final : public model::Definitions {
 public:
  // 0 when memory is refused.
  model::SiteId intern_site(std::string_view name, std::string_view cat, model::Layer layer);
  model::StringId intern_string(model::StringKind kind, std::string_view bytes);

  // `fields`: a list as model/args.h describes it. Every call makes a new schema (SchemaTable knows which there are).
  // kNoArgs when memory is refused or all ids are given away; those with constants are counted apart.
  model::SchemaId add_schema(std::string_view fields, bool has_constants = false);

  bool site(model::SiteId id, model::SiteDef& out) const override;
  bool string(model::StringId id, model::StringDef& out) const override;
  bool schema(model::SchemaId id, model::SchemaView& out) const override;

  // Crash-safe mode: copies every entry, and each later one, into kDefinitions chunks of the pool. Null ends it.
  void mirror_into(ChunkPool* pool);

  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }
  void reset_after_fork();

 private:
  struct Table;
  struct Arena;
  static constexpr std::uint32_t kSegmentSize = 4096;
  static constexpr std::uint32_t kSegments = 16384;
  static constexpr std::uint32_t kMostIds = kSegments * kSegmentSize;
  using Entry = model::DefinitionHeader;
  using EntryPlace = std::atomic<const Entry*>;
  struct Key {
    const Entry& like;
    std::string_view name;
    std::string_view cat;
    std::uint32_t hash;
  };

  const Entry* entry(std::uint32_t id) const;
  std::uint32_t find(const Key& key) const;
  std::uint32_t intern(const Entry& like, std::string_view name, std::string_view cat);
  std::uint32_t intern_locked(const Key& key);
  std::uint32_t try_add(const Key& key);  // 0 when there is no room, or no memory
  std::uint32_t new_id();
  std::uint32_t claim_slot(const Key& key, std::uint32_t id);
  static const Entry* put_entry(char* memory, const Entry& like, std::uint32_t id, std::string_view name,
                                std::string_view cat);
  char* allocate(std::size_t size);
  // REQUIRES: lock_ held
  bool make_arena_room(std::size_t size);
  bool make_id_room();
  bool grow_table();
  void mirror(const Entry& entry);

  base::FutexLock lock_;
  std::atomic<Table*> table_{nullptr};
  std::atomic<std::uint32_t> count_{0};       // ids 1..count_ are given away
  std::atomic<std::uint32_t> room_until_{0};  // segments and the table have room for ids up to this one
  std::atomic<EntryPlace*> segments_[kSegments] = {};
  std::atomic<std::uint32_t> schema_count_{0};  // ids 1..schema_count_
  std::uint32_t constant_schemas_ = 0;          // how many of them have constants
  const Entry* schemas_[model::kMaxSchemaId] = {};
  std::atomic<Arena*> arena_{nullptr};
  std::atomic<ChunkPool*> mirror_pool_{nullptr};
  model::ChunkHeader* mirror_chunk_ = nullptr;
};

}  // namespace dft::record
