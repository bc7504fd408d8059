// SPDX-License-Identifier: MIT
#include "record/definitions_log.h"

#include <cstring>

#include "base/hash.h"
#include "base/raw_io.h"
#include "base/sanitizer.h"
#include "record/recorder.h"

namespace dft::record {

using model::DefinitionHeader;
using model::DefinitionOf;
using model::padded8;

// Open addressing, power of two. A slot holds the id (low 32 bits) and 32 bits of the hash; 0 is empty. Grown tables
// are published whole and the old one stays mapped, because a reader may still be in it.
struct DefinitionsLog::Table {
  std::uint64_t mask;
  std::atomic<std::uint64_t> slots[1];
};

namespace {
constexpr std::size_t kArenaBlock = 64 * 1024;
constexpr std::uint64_t kFirstTable = 1024;
constexpr std::string_view kTooMany = "(more names than the tracer keeps)";

std::string_view entry_name(const DefinitionHeader& entry) {
  return {reinterpret_cast<const char*>(&entry + 1), entry.name_len};
}
std::string_view entry_cat(const DefinitionHeader& entry) {
  return {reinterpret_cast<const char*>(&entry + 1) + entry.name_len, entry.cat_len};
}
std::uint64_t entry_hash(const DefinitionHeader& like, std::string_view name, std::string_view cat) {
  return base::table_hash(name) * 31 + base::table_hash(cat) * 7 + like.layer_or_kind * 2u +
         static_cast<unsigned>(like.of);
}
bool same(const DefinitionHeader& a, const DefinitionHeader& like, std::string_view name, std::string_view cat) {
  return a.of == like.of && a.layer_or_kind == like.layer_or_kind && entry_name(a) == name && entry_cat(a) == cat;
}
}  // namespace

const DefinitionHeader* DefinitionsLog::entry(std::uint32_t id) const {
  if (id == 0 || id > count_.load(std::memory_order_acquire)) return nullptr;
  const Entry** segment = segments_[(id - 1) / kSegmentSize].load(std::memory_order_acquire);
  return segment[(id - 1) % kSegmentSize];
}

std::uint32_t DefinitionsLog::find(std::uint64_t hash, const Entry& like, std::string_view name,
                                   std::string_view cat) const {
  const Table* table = table_.load(std::memory_order_acquire);
  if (table == nullptr) return 0;
  for (std::uint64_t i = hash & table->mask;; i = (i + 1) & table->mask) {
    const std::uint64_t slot = table->slots[i].load(std::memory_order_acquire);
    if (slot == 0) return 0;
    if (slot >> 32 != hash >> 32) continue;
    const auto id = static_cast<std::uint32_t>(slot);
    const Entry* known = entry(id);
    if (known != nullptr && same(*known, like, name, cat)) return id;
  }
}

std::uint32_t DefinitionsLog::intern(const Entry& like, std::string_view name, std::string_view cat) {
  const std::uint64_t hash = entry_hash(like, name, cat);
  std::uint32_t id = find(hash, like, name, cat);
  if (id != 0) return id;
  recorder.settle_child();
  const base::LockGuard guard(lock_);
  id = find(hash, like, name, cat);
  return id != 0 ? id : add(like, name, cat, hash);
}

char* DefinitionsLog::allocate(std::size_t size) {
  if (size > kArenaBlock / 4) return static_cast<char*>(base::raw::map(size));
  if (arena_left_ < size) {
    arena_ = static_cast<char*>(base::raw::map(kArenaBlock));
    arena_left_ = arena_ != nullptr ? kArenaBlock : 0;
    if (arena_ == nullptr) return nullptr;
  }
  char* memory = arena_;
  arena_ += size;
  arena_left_ -= size;
  return memory;
}

bool DefinitionsLog::grow_table() {
  Table* old = table_.load(std::memory_order_relaxed);
  const std::uint64_t size = old == nullptr ? kFirstTable : (old->mask + 1) * 2;
  auto* bigger = static_cast<Table*>(base::raw::map(sizeof(Table) + size * sizeof(std::uint64_t)));
  if (bigger == nullptr) return false;
  bigger->mask = size - 1;
  for (std::uint32_t id = 1; id <= count_.load(std::memory_order_relaxed); ++id) {
    const Entry& known = *entry(id);
    const std::uint64_t hash = entry_hash(known, entry_name(known), entry_cat(known));
    std::uint64_t i = hash & bigger->mask;
    while (bigger->slots[i].load(std::memory_order_relaxed) != 0) i = (i + 1) & bigger->mask;
    bigger->slots[i].store((hash >> 32 << 32) | id, std::memory_order_relaxed);
  }
  table_.store(bigger, std::memory_order_release);
  return true;
}

const DefinitionHeader* DefinitionsLog::make_entry(const Entry& like, std::uint32_t id, std::string_view name,
                                                   std::string_view cat) {
  const base::UnseenByThreadSanitizer unseen;  // as other threads will read it
  const std::size_t size = sizeof(Entry) + padded8(name.size() + cat.size());
  char* memory = allocate(size);
  if (memory == nullptr) return nullptr;
  Entry made = like;
  made.size = static_cast<std::uint32_t>(size);
  made.id = id;
  made.name_len = static_cast<std::uint32_t>(name.size());
  made.cat_len = static_cast<std::uint16_t>(cat.size());
  if (made.of == DefinitionOf::kString) std::memcpy(made.hash, base::string_hash(name).digits, sizeof made.hash);
  std::memcpy(memory, &made, sizeof made);
  if (!name.empty()) std::memcpy(memory + sizeof made, name.data(), name.size());
  if (!cat.empty()) std::memcpy(memory + sizeof made + name.size(), cat.data(), cat.size());
  return reinterpret_cast<const Entry*>(memory);
}

std::uint32_t DefinitionsLog::add(const Entry& like, std::string_view name, std::string_view cat, std::uint64_t hash) {
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  if (count == kSegments * kSegmentSize) return 0;
  if (count == kSegments * kSegmentSize - 1) name = kTooMany;
  const Table* table = table_.load(std::memory_order_relaxed);
  if ((table == nullptr || (count + 1) * 2u > table->mask) && !grow_table()) return 0;
  std::atomic<const Entry**>& segment = segments_[count / kSegmentSize];
  if (segment.load(std::memory_order_relaxed) == nullptr) {
    auto* fresh = static_cast<const Entry**>(base::raw::map(kSegmentSize * sizeof(Entry*)));
    if (fresh == nullptr) return 0;
    segment.store(fresh, std::memory_order_release);
  }
  const Entry* entry = make_entry(like, count + 1, name, cat);
  if (entry == nullptr) return 0;
  segment.load(std::memory_order_relaxed)[count % kSegmentSize] = entry;
  count_.store(count + 1, std::memory_order_release);
  mirror(*entry);
  Table* current = table_.load(std::memory_order_relaxed);
  std::uint64_t i = hash & current->mask;
  while (current->slots[i].load(std::memory_order_relaxed) != 0) i = (i + 1) & current->mask;
  current->slots[i].store((hash >> 32 << 32) | entry->id, std::memory_order_release);
  return entry->id;
}

model::SiteId DefinitionsLog::intern_site(std::string_view name, std::string_view cat, model::Layer layer) {
  Entry like{};
  like.of = DefinitionOf::kSite;
  like.layer_or_kind = static_cast<std::uint8_t>(layer);
  return intern(like, name, cat.substr(0, 0xffff));
}

model::StringId DefinitionsLog::intern_string(model::StringKind kind, std::string_view bytes) {
  Entry like{};
  like.layer_or_kind = static_cast<std::uint8_t>(kind);
  return intern(like, bytes, {});
}

model::SchemaId DefinitionsLog::add_schema(std::string_view fields) {
  const base::LockGuard guard(lock_);
  const std::uint32_t count = schema_count_.load(std::memory_order_relaxed);
  if (count == model::kMaxSchemas) return model::kNoArgs;
  Entry like{};
  like.of = DefinitionOf::kSchema;
  const Entry* entry = make_entry(like, count + 1, fields, {});
  if (entry == nullptr) return model::kNoArgs;
  schemas_[count] = entry;
  schema_count_.store(count + 1, std::memory_order_release);
  mirror(*entry);
  return static_cast<model::SchemaId>(entry->id);
}

bool DefinitionsLog::schema(model::SchemaId id, model::SchemaView& out) const {
  if (id == model::kNoArgs || id > schema_count_.load(std::memory_order_acquire)) return false;
  const std::string_view fields = entry_name(*schemas_[id - 1]);
  out = {fields.data(), fields.size()};
  return true;
}

bool DefinitionsLog::site(model::SiteId id, model::SiteDef& out) const {
  const Entry* known = entry(id);
  if (known == nullptr || known->of != DefinitionOf::kSite) return false;
  out = {entry_name(*known), entry_cat(*known), static_cast<model::Layer>(known->layer_or_kind)};
  return true;
}

bool DefinitionsLog::string(model::StringId id, model::StringDef& out) const {
  const Entry* known = entry(id);
  if (known == nullptr || known->of != DefinitionOf::kString) return false;
  out.bytes = entry_name(*known);
  out.kind = static_cast<model::StringKind>(known->layer_or_kind);
  std::memcpy(out.hash, known->hash, sizeof out.hash);
  return true;
}

void DefinitionsLog::mirror(const Entry& entry) {
  // A child made by clone or _Fork may add names before its first event; the chunks are its parent's.
  if (mirror_pool_ == nullptr || control->ours.load(std::memory_order_relaxed) == 0) return;
  model::ChunkHeader* chunk = mirror_chunk_;
  std::uint64_t used = chunk != nullptr ? chunk->committed.load(std::memory_order_relaxed) : 0;
  if (chunk == nullptr || chunk->capacity() - used < entry.size) {
    chunk = mirror_pool_->take(model::ChunkKind::kDefinitions, entry.size, true);
    if (chunk == nullptr) return;
    mirror_chunk_ = chunk;
    used = 0;
  }
  std::memcpy(chunk->data() + used, &entry, entry.size);
  chunk->committed.store(used + entry.size, std::memory_order_release);
}

void DefinitionsLog::mirror_into(ChunkPool* pool) {
  const base::LockGuard guard(lock_);
  mirror_pool_ = pool;
  mirror_chunk_ = nullptr;
  if (pool == nullptr) return;
  for (std::uint32_t id = 1; id <= count_.load(std::memory_order_relaxed); ++id) mirror(*entry(id));
  for (std::uint32_t i = 0; i < schema_count_.load(std::memory_order_relaxed); ++i) mirror(*schemas_[i]);
}

void DefinitionsLog::reset_after_fork() {
  lock_.reset_after_fork();
  mirror_pool_ = nullptr;
  mirror_chunk_ = nullptr;
}

}  // namespace dft::record
