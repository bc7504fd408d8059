// SPDX-License-Identifier: MIT
// Purpose: what is the same in every line of a call site, rendered once:
// ,"name":"..","cat":"..","type":N,"pid":P,"tid": Threads: one owner. Invariant: bounded memory whatever the number of
// sites; a site that fell out is rendered again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "model/definitions.h"

namespace dft::encode {

struct SitePrefix {
  model::SiteId id = 0;  // 0: empty slot
  model::Layer layer = model::Layer::kUnknown;
  std::uint32_t offset = 0;    // into the arena
  std::uint32_t name_end = 0;  // behind the name member, relative to offset
  std::uint32_t type_end = 0;  // behind the type member
  std::uint32_t size = 0;
  // Of one thread there is more: its tid and ,"ts":
  std::int32_t tid = -1;  // of none yet
  std::uint32_t size_with_tid = 0;
};

class SiteCache {
 public:
  SiteCache(const model::Definitions& definitions, std::int32_t pid) : definitions_(definitions), pid_(pid) {}

  // Null when the site is unknown or memory is refused. Valid until the next call.
  const SitePrefix* find(model::SiteId id) {
    if (!slots_.empty()) {
      const SitePrefix& slot = slot_of(id);
      if (__builtin_expect(slot.id == id && id != 0, 1)) return &slot;
    }
    return render(id);
  }
  void add_tid(const SitePrefix& prefix, std::int32_t tid);
  const char* text(const SitePrefix& prefix) const { return arena_.data() + prefix.offset; }

  void forget() {  // fork child: without unmapping
    slots_.forget();
    arena_.forget();
  }

 private:
  static constexpr std::size_t kRoomForTid = 24;
  static constexpr std::size_t kSlots = 16 * 1024;
  static constexpr std::size_t kArenaLimit = 4 * 1024 * 1024;

  SitePrefix& slot_of(model::SiteId id) { return reinterpret_cast<SitePrefix*>(slots_.data())[id & (kSlots - 1)]; }
  const SitePrefix* render(model::SiteId id);
  bool prepare(std::size_t text_size);

  const model::Definitions& definitions_;
  const std::int32_t pid_;
  base::Buffer slots_;
  base::Buffer arena_;
};

}  // namespace dft::encode
