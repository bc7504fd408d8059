// SPDX-License-Identifier: MIT
#include "api/entity_table.h"

#include <sys/syscall.h>

#include <cstring>

#include "base/futex_lock.h"
#include "base/raw_io.h"

namespace dft::api {

namespace {
constexpr std::size_t kFirstCapacity = 1024;
constexpr std::size_t kBlockSize = std::size_t{1} << 20;
}  // namespace

class EntityTable::Lock {
 public:
  explicit Lock(std::atomic<std::int32_t>& owner) : owner_(owner), pid_(base::raw::pid()) {
    std::int32_t holder = 0;
    // A holder with another pid is a thread of the parent that does not exist here.
    while (!owner_.compare_exchange_weak(holder, pid_, std::memory_order_acquire)) {
      if (holder == pid_) {
        base::raw::call(SYS_sched_yield);
        holder = 0;
      }
    }
  }
  ~Lock() { owner_.store(0, std::memory_order_release); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  base::SignalGuard signals_;
  std::atomic<std::int32_t>& owner_;
  std::int32_t pid_;
};

EntityTable::Entry* EntityTable::slot_for(Entry* entries, std::size_t capacity, std::uint64_t id, bool is_type) const {
  std::size_t at = (id ^ (id >> 32)) & (capacity - 1);
  while (entries[at].id != 0 && (entries[at].id != id || entries[at].is_type != is_type))
    at = (at + 1) & (capacity - 1);
  return &entries[at];
}

EntityTable::Entry* EntityTable::find(std::uint64_t id, bool is_type) {
  if (capacity_ == 0) return nullptr;
  Entry* entry = slot_for(entries_, capacity_, id, is_type);
  return entry->id != 0 ? entry : nullptr;
}

// At most half of the slots are used, so that a search ends soon. False: the table is full or memory is refused.
bool EntityTable::make_room() {
  if (count_ >= kMostEntities) return false;
  if (2 * (count_ + 1) <= capacity_) return true;
  const std::size_t capacity = capacity_ == 0 ? kFirstCapacity : 2 * capacity_;
  auto* entries = static_cast<Entry*>(base::raw::map(capacity * sizeof(Entry)));
  if (entries == nullptr) return false;
  for (std::size_t i = 0; i < capacity_; ++i) {
    if (entries_[i].id != 0) *slot_for(entries, capacity, entries_[i].id, entries_[i].is_type) = entries_[i];
  }
  Entry* old = entries_;
  const std::size_t old_capacity = capacity_;
  capacity_ = 0;  // a fork here loses what is remembered, no more
  entries_ = entries;
  capacity_ = capacity;
  if (old != nullptr) base::raw::unmap(old, old_capacity * sizeof(Entry));
  return true;
}

const char* EntityTable::keep(std::string_view type, std::string_view text) {
  const std::size_t size = type.size() + text.size();
  if (size > block_left_) {
    auto* block = static_cast<char*>(base::raw::map(kBlockSize));
    if (block == nullptr) return nullptr;
    block_ = block;
    block_left_ = kBlockSize;
  }
  char* at = block_;
  block_ += size;
  block_left_ -= size;
  std::memcpy(at, type.data(), type.size());
  std::memcpy(at + type.size(), text.data(), text.size());
  return at;
}

bool EntityTable::declare(const Declaration& declaration, FileKey file, Declaration& first) {
  first = declaration;
  const Lock lock(owner_);
  Entry* entry = find(declaration.id, declaration.is_type);
  if (entry == nullptr) {
    if (!make_room()) return true;
    const char* text = keep(declaration.type, declaration.text);
    if (text == nullptr) return true;
    entry = slot_for(entries_, capacity_, declaration.id, declaration.is_type);
    *entry = {0,
              0,
              text,
              declaration.detail,
              static_cast<std::uint8_t>(declaration.type.size()),
              static_cast<std::uint8_t>(declaration.text.size()),
              declaration.is_type};
    std::atomic_signal_fence(std::memory_order_seq_cst);
    entry->id = declaration.id;
    ++count_;
  }
  first.detail = entry->detail;
  first.type = {entry->text, entry->type_length};
  first.text = {entry->text + entry->type_length, entry->text_length};
  if (entry->file == file) return false;
  entry->file = file;
  return true;
}

bool EntityTable::use(std::uint64_t id, bool is_type, FileKey file, Declaration& first) {
  const Lock lock(owner_);
  Entry* entry = find(id, is_type);
  if (entry == nullptr || entry->file == file) return false;
  entry->file = file;
  first = {id,
           is_type,
           entry->detail,
           {entry->text, entry->type_length},
           {entry->text + entry->type_length, entry->text_length}};
  return true;
}

void EntityTable::wrote(std::uint64_t id, bool is_type, FileKey file) {
  const Lock lock(owner_);
  if (Entry* entry = find(id, is_type)) entry->file = file;
}

}  // namespace dft::api
