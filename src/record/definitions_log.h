// SPDX-License-Identifier: MIT
// Purpose: the process's table of names: (name, category, layer) triples, hashed strings and schemas of args, each with
//          a stable id.
// Threads: look-ups are lock-free; additions take one lock with signals blocked. Ids stay valid for the life of the
//          process, across restarts of recording and in forked children (private memory, copied by the kernel).
// Invariant: an id is visible only after its entry is whole.
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
  // kNoArgs when memory is refused or all ids are given away.
  model::SchemaId add_schema(std::string_view fields);

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
  static constexpr std::uint32_t kSegmentSize = 4096;
  static constexpr std::uint32_t kSegments = 16384;
  using Entry = model::DefinitionHeader;

  const Entry* entry(std::uint32_t id) const;
  std::uint32_t find(std::uint64_t hash, const Entry& like, std::string_view name, std::string_view cat) const;
  std::uint32_t intern(const Entry& like, std::string_view name, std::string_view cat);
  std::uint32_t add(const Entry& like, std::string_view name, std::string_view cat, std::uint64_t hash);
  const Entry* make_entry(const Entry& like, std::uint32_t id, std::string_view name, std::string_view cat);
  char* allocate(std::size_t size);
  bool grow_table();
  void mirror(const Entry& entry);

  base::FutexLock lock_;
  std::atomic<Table*> table_{nullptr};
  std::atomic<std::uint32_t> count_{0};  // ids 1..count_
  std::atomic<const Entry**> segments_[kSegments] = {};
  std::atomic<std::uint32_t> schema_count_{0};  // ids 1..schema_count_
  const Entry* schemas_[model::kMaxSchemas] = {};
  char* arena_ = nullptr;
  std::size_t arena_left_ = 0;
  ChunkPool* mirror_pool_ = nullptr;
  model::ChunkHeader* mirror_chunk_ = nullptr;
};

}  // namespace dft::record
