// SPDX-License-Identifier: MIT
#include "intercept/binding_table.h"

#include <dlfcn.h>

#include <cstring>

namespace dft::intercept {

namespace {

bool same_version(const Row& row, const char* version) {
  return version != nullptr && strcmp(row.version, version) == 0;
}

void keep_version(Row& row, const char* version) {
  const std::size_t size = version != nullptr ? strlen(version) : 0;
  if (size < sizeof row.version) memcpy(row.version, version != nullptr ? version : "", size + 1);
}

// The first two characters: of the thousands of names that an object refers to, most are told apart by them.
std::uint32_t beginning_of(const char* name) {
  const std::uint32_t first = static_cast<unsigned char>(name[0]) & 0x7f;
  return first << 7 | (first != 0 ? static_cast<unsigned char>(name[1]) & 0x7f : 0);
}

// One function may stand under several versions (dlopen has two since it moved into libc).
bool answers_for(const Row& row, const char* version) {
  if (row.any_version) return true;
  if (version == nullptr) return row.binding->version == nullptr;
  if (!row.lasting) return false;
  ElfObject object(row.place);
  object.read();
  const ElfW(Sym)* symbol = object.find_defined(row.name, version);
  return symbol != nullptr && object.address_of(symbol) == row.definition;
}

const char* wanted(const Row& row) { return row.version[0] != '\0' ? row.version : nullptr; }

}  // namespace

bool BindingTable::load(const Binding* bindings, std::size_t count) {
  std::size_t size = 16;
  while (size < count * 2) size *= 2;
  rows_.clear();
  longest_ = 0;
  memset(beginnings_, 0, sizeof beginnings_);
  if (!index_.assign_zero(size)) return false;
  for (std::size_t i = 0; i < count; ++i) {
    Row row{
        &bindings[i], SymbolName(bindings[i].name), kNoRow, {}, nullptr, false, false, {}, false, false, nullptr, 0, 0};
    keep_version(row, bindings[i].version);
    if (!rows_.push(row)) return false;
    const std::uint32_t beginning = beginning_of(row.name.text);
    beginnings_[beginning / 64] |= std::uint64_t{1} << (beginning % 64);
    const std::size_t length = strlen(row.name.text);
    if (length > longest_) longest_ = length;
    const auto added = static_cast<std::uint32_t>(rows_.size() - 1);
    std::size_t at = row.name.gnu_hash & (size - 1);
    while (index_[at] != 0 && strcmp(rows_[index_[at] - 1].name.text, row.name.text) != 0) at = (at + 1) & (size - 1);
    if (index_[at] == 0) {
      index_[at] = added + 1;
      continue;
    }
    std::uint32_t last = index_[at] - 1;
    while (rows_[last].next != kNoRow) last = rows_[last].next;
    rows_[last].next = added;
  }
  return true;
}

void BindingTable::release() {
  rows_.release();
  index_.release();
}

Row* BindingTable::find(const char* name) {
  const std::uint32_t beginning = beginning_of(name);
  if ((beginnings_[beginning / 64] >> (beginning % 64) & 1) == 0) return nullptr;
  std::uint32_t hash = 5381;
  std::size_t length = 0;
  for (; name[length] != '\0'; ++length) {
    if (length == longest_) return nullptr;
    hash = hash * 33 + static_cast<unsigned char>(name[length]);
  }
  for (std::size_t at = hash & (index_.size() - 1); index_[at] != 0; at = (at + 1) & (index_.size() - 1)) {
    Row& row = rows_[index_[at] - 1];
    if (row.name.gnu_hash == hash && strcmp(row.name.text, name) == 0) return &row;
  }
  return nullptr;
}

bool BindingTable::is_wrapper(Row* group, const void* value) {
  for (Row* row = group; row != nullptr; row = next(row))
    if (row->binding->wrapper == value) return true;
  return false;
}

Row* BindingTable::leading_to(Row* group, const void* target, const char* version) {
  Row* found = nullptr;
  for (Row* row = group; row != nullptr; row = next(row)) {
    if (!row->active() || row->real() != target) continue;
    if (same_version(*row, version)) return row;
    if (found == nullptr) found = row;
  }
  return found;
}

Row* BindingTable::defined_for(Row* group, const char* version) {
  Row* found = nullptr;
  for (Row* row = group; row != nullptr; row = next(row)) {
    if (row->definition == nullptr || row->indirect || row->binding->spare) continue;
    if (same_version(*row, version)) return row;
    if (found == nullptr && answers_for(*row, version)) found = row;
  }
  return found;
}

void BindingTable::take_default_versions(const ElfObject& libc) {
  for (Row& row : rows_) {
    if (wanted(row) != nullptr) continue;
    const ElfW(Sym)* symbol = libc.find_defined(row.name, nullptr);
    if (symbol != nullptr) keep_version(row, libc.defined_version(symbol));
  }
}

void BindingTable::take_definitions(const ElfObject& object, bool lasting) {
  for (Row& row : rows_) {
    if (row.definition != nullptr || row.binding->spare) continue;
    const ElfW(Sym)* symbol = object.find_defined(row.name, wanted(row));
    if (symbol == nullptr) continue;
    const char* version = object.defined_version(symbol);
    if (wanted(row) == nullptr) keep_version(row, version);
    row.definition = object.address_of(symbol);
    row.any_version = version == nullptr;
    row.lasting = lasting;
    row.place = object.place();
    row.indirect = ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC;
  }
}

void BindingTable::resolve_indirect() {
  for (Row& row : rows_) {
    if (!row.indirect) continue;
    row.indirect = false;
    row.definition =
        wanted(row) != nullptr ? dlvsym(RTLD_DEFAULT, row.name.text, row.version) : dlsym(RTLD_DEFAULT, row.name.text);
  }
}

void BindingTable::note_definitions(const ElfObject& object) {
  for (Row& row : rows_) {
    if (row.defined_elsewhere) continue;
    const ElfW(Sym)* symbol = object.find_defined(row.name, wanted(row));
    row.defined_elsewhere = symbol != nullptr && object.address_of(symbol) != row.definition;
  }
}

void BindingTable::store_reals() {
  for (Row& row : rows_) {
    if (row.binding->spare || row.binding->real_is_given || row.definition == nullptr || row.indirect) continue;
    void* real = row.slots_with_other > row.slots_with_definition ? row.other : row.definition;
    row.binding->real->store(real, std::memory_order_release);
  }
}

}  // namespace dft::intercept
