// SPDX-License-Identifier: MIT
#include "encode/site_cache.h"

#include <cstring>

#include "encode/json_text.h"
#include "encode/json_writer.h"

namespace dft::encode {

namespace {
constexpr std::size_t kMaxPrefix = std::size_t{1} << 31;
}  // namespace

bool SiteCache::prepare(std::size_t text_size) {
  if (slots_.empty()) {
    if (!slots_.reserve(kSlots * sizeof(SitePrefix))) return false;
    std::memset(slots_.data(), 0, kSlots * sizeof(SitePrefix));
    slots_.advance(kSlots * sizeof(SitePrefix));
  }
  if (arena_.size() != 0 && arena_.size() + text_size > kArenaLimit) {
    std::memset(slots_.data(), 0, slots_.size());
    arena_.clear();
  }
  return arena_.reserve(text_size + text::kReadAhead);
}

const SitePrefix* SiteCache::render(model::SiteId id) {
  model::SiteDef site;
  if (id == 0 || !definitions_.site(id, site)) return nullptr;
  const std::size_t bound = text::escaped_bound(site.name.data(), site.name.size()) +
                            text::escaped_bound(site.cat.data(), site.cat.size()) + 128 + kRoomForTid + text::kSlack;
  if (bound > kMaxPrefix || !prepare(bound)) return nullptr;

  char* const begin = arena_.end();
  char* p = text::put_literal(begin, ",\"name\":\"");
  p = text::put_escaped(p, site.name.data(), site.name.size()).end;
  *p++ = '"';
  const char* const name_end = p;
  p = text::put_literal(p, ",\"cat\":\"");
  p = text::put_escaped(p, site.cat.data(), site.cat.size()).end;
  p = text::put_literal(p, "\",\"type\":");
  p = text::put_uint(p, static_cast<std::uint64_t>(site.layer));
  const char* const type_end = p;
  p = text::put_literal(p, ",\"pid\":");
  p = text::put_int(p, pid_);
  p = text::put_literal(p, ",\"tid\":");

  SitePrefix& slot = slot_of(id);
  slot.id = id;
  slot.layer = site.layer;
  slot.offset = static_cast<std::uint32_t>(begin - arena_.data());
  slot.name_end = static_cast<std::uint32_t>(name_end - begin);
  slot.type_end = static_cast<std::uint32_t>(type_end - begin);
  slot.size = static_cast<std::uint32_t>(p - begin);
  slot.tid = -1;
  arena_.advance(slot.size + kRoomForTid);
  return &slot;
}

void SiteCache::add_tid(const SitePrefix& prefix, std::int32_t tid) {
  SitePrefix& slot = slot_of(prefix.id);
  char text[kRoomForTid + text::kMaxNumber + text::kSlack];
  char* const end = text::put_literal(text::put_int(text, tid), ",\"ts\":");
  const auto size = static_cast<std::size_t>(end - text);
  std::memcpy(arena_.data() + slot.offset + slot.size, text, size);
  slot.size_with_tid = slot.size + static_cast<std::uint32_t>(size);
  slot.tid = tid;
}

}  // namespace dft::encode
