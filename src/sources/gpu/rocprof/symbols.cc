// SPDX-License-Identifier: MIT
#include "sources/gpu/rocprof/symbols.h"

#include <cstring>

#include "base/raw_io.h"

namespace dft::gpu::rocprof {

const char* Symbols::copy(std::string_view name) {
  constexpr std::size_t kArena = 1 << 16;
  const std::size_t size = name.size() + 1;
  if (size > left_) {  // the rest of the old piece is lost; names of half a megabyte exist and get their own
    const std::size_t wanted = size > kArena ? size : kArena;
    auto* fresh = static_cast<char*>(base::raw::map(wanted));
    if (fresh == nullptr) return nullptr;
    at_ = fresh;
    left_ = wanted;
  }
  char* const kept = at_;
  std::memcpy(kept, name.data(), name.size());
  kept[name.size()] = '\0';
  at_ += size;
  left_ -= size;
  return kept;
}

void Symbols::add(std::uint64_t kernel, std::string_view name) {
  const base::LockGuard lock(lock_);
  bool made = false;
  const char** known = known_.find_or_add({kernel}, &made);
  if (known == nullptr) return;
  if (*known != nullptr && name == *known) return;
  *known = copy(name);
}

const char* Symbols::find(std::uint64_t kernel) {
  const base::LockGuard lock(lock_);
  const char* const* known = known_.find({kernel});
  return known == nullptr ? nullptr : *known;
}

std::size_t Symbols::count() {
  const base::LockGuard lock(lock_);
  return known_.size();
}

}  // namespace dft::gpu::rocprof
