// SPDX-License-Identifier: MIT
#include "sources/gpu/name_table.h"

#include <stdlib.h>

#include <cstring>

#include "base/hash.h"
#include "base/raw_io.h"
#include "record/emit.h"
#include "sources/gpu/demangle.h"

namespace dft::gpu {

namespace {
constexpr std::string_view kUnnamed = "kernel";

// Where a template or parameter list that opens at `at` ends (behind its closing bracket).
std::size_t behind_brackets(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    const bool arrow = c == '>' && at > 0 && text[at - 1] == '-';
    if (c == '(' || c == '<' || c == '{' || c == '[') ++depth;
    if ((c == ')' || c == '>' || c == '}' || c == ']') && !arrow && --depth == 0) return at + 1;
  }
  return text.size();
}
}  // namespace

std::string_view short_kernel_name(std::string_view demangled) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  constexpr std::string_view kOperator = "operator";
  std::size_t begin = 0;  // of the last component
  std::size_t end = std::string_view::npos;
  for (std::size_t at = 0; at < demangled.size();) {
    const std::string_view rest = demangled.substr(at);
    if (rest.substr(0, kAnonymous.size()) == kAnonymous) {
      at += kAnonymous.size();
    } else if (at == begin && rest.substr(0, kOperator.size()) == kOperator) {
      const std::size_t list = rest.substr(kOperator.size(), 2) == "()" ? kOperator.size() + 2 : kOperator.size();
      end = demangled.find('(', at + list);
      break;
    } else if (rest[0] == '(') {
      if (end == std::string_view::npos) end = at;
      break;
    } else if (rest[0] == '<') {
      if (end == std::string_view::npos) end = at;
      at = behind_brackets(demangled, at);
    } else if (rest[0] == '{') {
      at = behind_brackets(demangled, at);
    } else if (rest[0] == ' ' || rest.substr(0, 2) == "::") {
      at += rest[0] == ' ' ? 1 : 2;
      begin = at;
      end = std::string_view::npos;
    } else {
      ++at;
    }
  }
  const std::string_view name = demangled.substr(begin, end == std::string_view::npos ? end : end - begin);
  return name.empty() ? demangled : name;
}

NameTable::~NameTable() {
  while (arena_ != nullptr) {
    Arena* next = arena_->next;
    base::raw::unmap(arena_, kArenaSize);
    arena_ = next;
  }
}

void NameTable::configure(KernelNames form, std::string_view category, model::Layer layer,
                          std::string_view hidden_suffix) {
  hidden_suffix_ = hidden_suffix;
  form_ = form;
  category_ = category;
  layer_ = layer;
  pointers_.clear();
  texts_.clear();
  for (Recent& recent : recent_) recent = Recent{};
}

KernelName NameTable::find(const char* symbol) {
  if (symbol == nullptr || *symbol == '\0') return {record::site_id(kUnnamed, category_, layer_), 0};
  Entry* known = pointers_.find({reinterpret_cast<std::uintptr_t>(symbol)});
  const KernelName name = known != nullptr && is_still(*known, symbol) ? known->name : look_up(symbol);
  if (buffer_ != 0) recent_[place_of(symbol)] = {symbol, buffer_, name};
  return name;
}

inline bool NameTable::is_still(Entry& entry, const char* symbol) const {
  if (entry.buffer == buffer_ && buffer_ != 0) return true;
  entry.buffer = buffer_;
  return std::strcmp(symbol, entry.text) == 0;
}

KernelName NameTable::look_up(const char* symbol) {
  const std::string_view text(symbol);
  std::uint64_t hash = base::table_hash(text);
  Entry* entry = nullptr;
  for (bool made = false;; ++hash) {  // two texts of one hash stand at neighbouring hashes
    entry = texts_.find_or_add({hash}, &made);
    if (entry == nullptr) return {site_of(symbol), 0};
    if (!made && std::strcmp(entry->text, symbol) != 0) continue;
    if (!made) break;
    const char* copied = copy(text);
    entry->text = copied != nullptr ? copied : "";
    entry->name = {site_of(symbol), record::string_id(model::StringKind::kString, text)};
    break;
  }
  bool made = false;
  const Entry found{entry->text, entry->name, buffer_};
  if (Entry* by_pointer = pointers_.find_or_add({reinterpret_cast<std::uintptr_t>(symbol)}, &made)) *by_pointer = found;
  return found.name;
}

// A copy, since the demangler wants a NUL at the end; a symbol that is too long for one is too long to be demangled.
model::SiteId NameTable::site_without_suffix(std::string_view symbol) const {
  char shorter[kLongestDemangled];
  const std::string_view name = symbol.substr(0, symbol.size() - hidden_suffix_.size());
  if (name.size() >= sizeof shorter) return record::site_id(name, category_, layer_);
  std::memcpy(shorter, name.data(), name.size());
  shorter[name.size()] = '\0';
  return site_of(shorter);
}

model::SiteId NameTable::site_of(const char* symbol) const {
  std::string_view name(symbol);
  if (!hidden_suffix_.empty() && name.size() > hidden_suffix_.size() &&
      name.substr(name.size() - hidden_suffix_.size()) == hidden_suffix_) {
    return site_without_suffix(name);
  }
  char* words = nullptr;
  if (form_ != KernelNames::kMangled) {
    words = demangled(symbol);
    if (words != nullptr) name = words;
    if (form_ == KernelNames::kShort) name = short_kernel_name(name);
  }
  const model::SiteId site = record::site_id(name, category_, layer_);
  ::free(words);
  return site;
}

const char* NameTable::copy(std::string_view text) {
  const std::size_t size = text.size() + 1;
  char* at;
  if (size > kArenaSize / 4) {  // names of half a megabyte exist; they stay mapped for the life of the process
    at = static_cast<char*>(base::raw::map(size));
    if (at == nullptr) return nullptr;
  } else {
    if (arena_ == nullptr || kArenaSize - arena_->used < size) {
      auto* fresh = static_cast<Arena*>(base::raw::map(kArenaSize));
      if (fresh == nullptr) return nullptr;
      *fresh = {arena_, sizeof(Arena)};
      arena_ = fresh;
    }
    at = reinterpret_cast<char*>(arena_) + arena_->used;
    arena_->used += size;
  }
  std::memcpy(at, text.data(), text.size());
  at[text.size()] = '\0';
  return at;
}

}  // namespace dft::gpu
