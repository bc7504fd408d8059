// SPDX-License-Identifier: MIT
#include "read/hash_table.h"

namespace dft::read {

void HashTable::add(const Event& event) {
  if (event.phase != model::Phase::kMetadata || event.name.size() != 2 || event.name[1] != 'H') return;
  const char kind = event.name[0];
  if ((kind != 'F' && kind != 'H' && kind != 'S') || event.arg_value.empty()) return;
  std::string key(1, kind);
  key += event.arg_value;
  names_.emplace(std::move(key), event.arg_name);
}

const std::string* HashTable::look(char kind, std::string_view hash) const {
  std::string key(1, kind);
  key += hash;
  const auto found = names_.find(key);
  return found == names_.end() ? nullptr : &found->second;
}

const std::string* HashTable::find(char kind, std::string_view hash) const {
  if (kind != '?') return look(kind, hash);
  for (const char each : {'F', 'S', 'H'}) {
    if (const std::string* name = look(each, hash)) return name;
  }
  return nullptr;
}

}  // namespace dft::read
