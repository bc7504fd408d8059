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

// Open addressing, power of two. A slot holds the id (low 32 bits) and the 32 bits of the hash; 0 is empty. Before a
// table is replaced its empty slots are frozen, so that nothing is added behind the copy. Old ones stay mapped, because
// a reader may still be in one.
struct DefinitionsLog::Table {
  std::uint64_t mask;
  std::atomic<std::uint64_t> slots[1];
};

namespace {
constexpr std::size_t kArenaBlock = 64 * 1024;
constexpr std::size_t kArenaBytes = kArenaBlock - sizeof(std::uint64_t);
constexpr std::size_t kOwnMapping = kArenaBlock / 4;  // larger entries
constexpr std::uint64_t kFirstTable = 1024;
constexpr int kAttempts = 100;  // of getting what room was made before others do
constexpr std::uint64_t kFrozen = ~std::uint64_t{0};
constexpr std::string_view kTooMany = "(more names than the tracer keeps)";

std::string_view entry_name(const DefinitionHeader& entry) {
  return {reinterpret_cast<const char*>(&entry + 1), entry.name_len};
}
std::string_view entry_cat(const DefinitionHeader& entry) {
  return {reinterpret_cast<const char*>(&entry + 1) + entry.name_len, entry.cat_len};
}
std::uint32_t entry_hash(const DefinitionHeader& like, std::string_view name, std::string_view cat) {
  const std::uint64_t hash = base::table_hash(name) * 31 + base::table_hash(cat) * 7 + like.layer_or_kind * 2u +
                             static_cast<unsigned>(like.of);
  return static_cast<std::uint32_t>(hash >> 32);
}
bool same(const DefinitionHeader& a, const DefinitionHeader& like, std::string_view name, std::string_view cat) {
  return a.of == like.of && a.layer_or_kind == like.layer_or_kind && entry_name(a) == name && entry_cat(a) == cat;
}
std::size_t entry_size(std::string_view name, std::string_view cat) {
  return sizeof(DefinitionHeader) + padded8(name.size() + cat.size());
}
}  // namespace

// Memory for entries, handed out from the front and never given back.
struct DefinitionsLog::Arena {
  std::atomic<std::uint64_t> used;
  char bytes[kArenaBytes];
};

// seq_cst: see try_add.
const DefinitionHeader* DefinitionsLog::entry(std::uint32_t id) const {
  if (id == 0 || id > count_.load(std::memory_order_acquire)) return nullptr;
  const EntryPlace* segment = segments_[(id - 1) / kSegmentSize].load(std::memory_order_acquire);
  return segment[(id - 1) % kSegmentSize].load(std::memory_order_seq_cst);
}

std::uint32_t DefinitionsLog::find(const Key& key) const {
  const Table* table = table_.load(std::memory_order_acquire);
  if (table == nullptr) return 0;
  for (std::uint64_t i = key.hash & table->mask;; i = (i + 1) & table->mask) {
    const std::uint64_t slot = table->slots[i].load(std::memory_order_acquire);
    if (slot == 0 || slot == kFrozen) return 0;
    if (slot >> 32 != key.hash) continue;
    const auto id = static_cast<std::uint32_t>(slot);
    const Entry* known = entry(id);
    if (known != nullptr && same(*known, key.like, key.name, key.cat)) return id;
  }
}

std::uint32_t DefinitionsLog::intern(const Entry& like, std::string_view name, std::string_view cat) {
  const Key key{like, name, cat, entry_hash(like, name, cat)};
  std::uint32_t id = find(key);
  if (id != 0) return id;
  if (mirror_pool_.load(std::memory_order_relaxed) == nullptr) id = try_add(key);
  // seq_cst: see try_add. Looked at again for an addition that came while mirroring began.
  const bool mirrors = mirror_pool_.load(std::memory_order_seq_cst) != nullptr;
  if (id != 0 && !mirrors) return id;
  recorder.settle_child();
  const base::LockGuard guard(lock_);
  if (id == 0) return intern_locked(key);
  mirror(*entry(id));
  return id;
}

std::uint32_t DefinitionsLog::intern_locked(const Key& key) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::uint32_t id = find(key);
    if (id != 0) return id;
    if (!make_arena_room(entry_size(key.name, key.cat)) || !make_id_room()) return 0;
    id = try_add(key);
    if (id == 0) continue;
    mirror(*entry(id));
    return id;
  }
  return 0;
}

std::uint32_t DefinitionsLog::new_id() {
  std::uint32_t count = count_.load(std::memory_order_relaxed);
  do {
    if (count >= room_until_.load(std::memory_order_acquire)) return 0;
  } while (!count_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel));
  return count + 1;
}

// The entry is stored before anyone looks whether entries are mirrored, and mirror_into() says so before it looks at
// the entries: at least one of the two sees the other.
std::uint32_t DefinitionsLog::try_add(const Key& key) {
  if (count_.load(std::memory_order_relaxed) >= room_until_.load(std::memory_order_relaxed)) return 0;
  char* memory = allocate(entry_size(key.name, key.cat));
  const std::uint32_t id = memory != nullptr ? new_id() : 0;
  if (id == 0) return 0;
  const bool last = id == kMostIds && key.name.size() >= kTooMany.size();
  const Entry* entry = put_entry(memory, key.like, id, last ? kTooMany : key.name, key.cat);
  EntryPlace* segment = segments_[(id - 1) / kSegmentSize].load(std::memory_order_acquire);
  segment[(id - 1) % kSegmentSize].store(entry, std::memory_order_seq_cst);
  return claim_slot(key, id);
}

// The id that stands in the table for this name in the end: ours, or that of a thread that was first.
std::uint32_t DefinitionsLog::claim_slot(const Key& key, std::uint32_t id) {
  Table* table = table_.load(std::memory_order_acquire);
  const std::uint64_t mine = std::uint64_t{key.hash} << 32 | id;
  for (std::uint64_t i = key.hash & table->mask;; i = (i + 1) & table->mask) {
    std::uint64_t slot = table->slots[i].load(std::memory_order_acquire);
    if (slot == 0 && table->slots[i].compare_exchange_strong(slot, mine, std::memory_order_acq_rel)) return id;
    if (slot == kFrozen) return 0;
    if (slot >> 32 != key.hash) continue;
    const Entry* other = entry(static_cast<std::uint32_t>(slot));
    if (other != nullptr && same(*other, key.like, key.name, key.cat)) return static_cast<std::uint32_t>(slot);
  }
}

char* DefinitionsLog::allocate(std::size_t size) {
  if (size > kOwnMapping) return static_cast<char*>(base::raw::map(size));
  Arena* arena = arena_.load(std::memory_order_acquire);
  if (arena == nullptr) return nullptr;
  const std::uint64_t at = arena->used.fetch_add(size, std::memory_order_relaxed);
  return at + size <= kArenaBytes ? arena->bytes + at : nullptr;
}

bool DefinitionsLog::make_arena_room(std::size_t size) {
  if (size > kOwnMapping) return true;
  const Arena* arena = arena_.load(std::memory_order_relaxed);
  if (arena != nullptr && arena->used.load(std::memory_order_relaxed) + size <= kArenaBytes) return true;
  auto* fresh = static_cast<Arena*>(base::raw::map(kArenaBlock));
  if (fresh != nullptr) arena_.store(fresh, std::memory_order_release);
  return fresh != nullptr;
}

// Twice the table as soon as it is half full; the slots have what it takes to place them.
bool DefinitionsLog::grow_table() {
  Table* old = table_.load(std::memory_order_relaxed);
  const std::uint64_t size = old == nullptr ? kFirstTable : (old->mask + 1) * 2;
  auto* bigger = static_cast<Table*>(base::raw::map(sizeof(Table) + size * sizeof(std::uint64_t)));
  if (bigger == nullptr) return false;
  bigger->mask = size - 1;
  for (std::uint64_t from = 0; old != nullptr && from <= old->mask; ++from) {
    std::uint64_t slot = 0;
    if (old->slots[from].compare_exchange_strong(slot, kFrozen, std::memory_order_acq_rel)) continue;
    if (slot == kFrozen) continue;  // by a thread of the parent that did not come along into this process
    std::uint64_t i = (slot >> 32) & bigger->mask;
    while (bigger->slots[i].load(std::memory_order_relaxed) != 0) i = (i + 1) & bigger->mask;
    bigger->slots[i].store(slot, std::memory_order_relaxed);
  }
  table_.store(bigger, std::memory_order_release);
  return true;
}

// For at least one more id, and mostly for many.
bool DefinitionsLog::make_id_room() {
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  if (count < room_until_.load(std::memory_order_relaxed)) return true;
  if (count == kMostIds) return false;
  const Table* table = table_.load(std::memory_order_relaxed);
  if ((table == nullptr || (count + 1) * 2u > table->mask) && !grow_table()) return false;
  std::atomic<EntryPlace*>& segment = segments_[count / kSegmentSize];
  if (segment.load(std::memory_order_relaxed) == nullptr) {
    auto* fresh = static_cast<EntryPlace*>(base::raw::map(kSegmentSize * sizeof(EntryPlace)));
    if (fresh == nullptr) return false;
    segment.store(fresh, std::memory_order_release);
  }
  const auto in_table = static_cast<std::uint32_t>(table_.load(std::memory_order_relaxed)->mask / 2);
  const std::uint32_t in_segment = (count / kSegmentSize + 1) * kSegmentSize;
  room_until_.store(in_table < in_segment ? in_table : in_segment, std::memory_order_release);
  return true;
}

const DefinitionHeader* DefinitionsLog::put_entry(char* memory, const Entry& like, std::uint32_t id,
                                                  std::string_view name, std::string_view cat) {
  const base::UnseenByThreadSanitizer unseen;  // as other threads will read it
  Entry made = like;
  made.size = static_cast<std::uint32_t>(entry_size(name, cat));
  made.id = id;
  made.name_len = static_cast<std::uint32_t>(name.size());
  made.cat_len = static_cast<std::uint16_t>(cat.size());
  if (made.of == DefinitionOf::kString) std::memcpy(made.hash, base::string_hash(name).digits, sizeof made.hash);
  std::memcpy(memory, &made, sizeof made);
  if (!name.empty()) std::memcpy(memory + sizeof made, name.data(), name.size());
  if (!cat.empty()) std::memcpy(memory + sizeof made + name.size(), cat.data(), cat.size());
  return reinterpret_cast<const Entry*>(memory);
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

model::SchemaId DefinitionsLog::add_schema(std::string_view fields, bool has_constants) {
  const base::LockGuard guard(lock_);
  const std::uint32_t count = schema_count_.load(std::memory_order_relaxed);
  const std::uint32_t alike = has_constants ? constant_schemas_ : count - constant_schemas_;
  if (alike == (has_constants ? model::kMaxConstantSchemas : model::kMaxPlainSchemas)) return model::kNoArgs;
  Entry like{};
  like.of = DefinitionOf::kSchema;
  const std::size_t size = entry_size(fields, {});
  char* memory = make_arena_room(size) ? allocate(size) : nullptr;
  if (memory == nullptr) return model::kNoArgs;
  const Entry* entry = put_entry(memory, like, count + 1, fields, {});
  schemas_[count] = entry;
  constant_schemas_ += has_constants ? 1 : 0;
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
  ChunkPool* pool = mirror_pool_.load(std::memory_order_relaxed);
  if (pool == nullptr || control->ours.load(std::memory_order_relaxed) == 0) return;
  model::ChunkHeader* chunk = mirror_chunk_;
  std::uint64_t used = chunk != nullptr ? chunk->committed.load(std::memory_order_relaxed) : 0;
  if (chunk == nullptr || chunk->capacity() - used < entry.size) {
    chunk = pool->take(model::ChunkKind::kDefinitions, entry.size, true);
    if (chunk == nullptr) return;
    mirror_chunk_ = chunk;
    used = 0;
  }
  std::memcpy(chunk->data() + used, &entry, entry.size);
  chunk->committed.store(used + entry.size, std::memory_order_release);
}

void DefinitionsLog::mirror_into(ChunkPool* pool) {
  const base::LockGuard guard(lock_);
  mirror_pool_.store(pool, std::memory_order_seq_cst);  // see try_add
  mirror_chunk_ = nullptr;
  if (pool == nullptr) return;
  for (std::uint32_t id = 1; id <= count_.load(std::memory_order_relaxed); ++id) {
    if (const Entry* known = entry(id)) mirror(*known);
  }
  for (std::uint32_t i = 0; i < schema_count_.load(std::memory_order_relaxed); ++i) mirror(*schemas_[i]);
}

void DefinitionsLog::reset_after_fork() {
  lock_.reset_after_fork();
  mirror_pool_.store(nullptr, std::memory_order_relaxed);
  mirror_chunk_ = nullptr;
}

}  // namespace dft::record
