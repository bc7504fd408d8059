// SPDX-License-Identifier: MIT
#include "tools/crash_image.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "base/log.h"

namespace dft::tools {

using model::ChunkHeader;
using model::ChunkKind;

std::unique_ptr<CrashImage> CrashImage::open(const std::string& path, std::string& reason) {
  std::unique_ptr<CrashImage> image(new CrashImage);
  image->fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (image->fd_ < 0 || ::fstat(image->fd_, &info) != 0) {
    reason = std::string(base::error_text(errno));
    return nullptr;
  }
  image->size_ = static_cast<std::size_t>(info.st_size);
  if (!S_ISREG(info.st_mode) || image->size_ < model::kCrashHeaderSize) {
    reason = "is no crash file";
    return nullptr;
  }
  image->locked_by_other_ = ::flock(image->fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  void* data = ::mmap(nullptr, image->size_, PROT_READ, MAP_PRIVATE, image->fd_, 0);
  if (data == MAP_FAILED) {
    reason = std::string(base::error_text(errno));
    return nullptr;
  }
  image->data_ = static_cast<char*>(data);
  const model::CrashHeader& header = image->header();
  if (header.magic != model::kCrashMagic) {
    reason = "is no crash file, or its process died while creating it";
    return nullptr;
  }
  if (header.version != model::kCrashVersion || header.chunk_size != model::kChunkSize) {
    reason = "was written by another version of DFTracer (layout " + std::to_string(header.version) + ")";
    return nullptr;
  }
  image->read_chunks();
  return image;
}

CrashImage::~CrashImage() {
  if (data_ != nullptr) ::munmap(data_, size_);
  if (fd_ >= 0) ::close(fd_);
}

const ChunkHeader* CrashImage::chunk_at(std::uint64_t slot) const {
  const std::uint64_t offset = model::kCrashHeaderSize + slot * model::kChunkSize;
  if (slot > size_ / model::kChunkSize || offset + model::kChunkSize > size_) return nullptr;
  const auto* chunk = reinterpret_cast<const ChunkHeader*>(data_ + offset);
  if (chunk->magic != model::kChunkMagic || chunk->slots == 0) return nullptr;
  if (offset + std::uint64_t{chunk->slots} * model::kChunkSize > size_) return nullptr;
  const std::uint64_t committed = chunk->committed.load(std::memory_order_acquire);
  return committed <= chunk->capacity() ? chunk : nullptr;
}

void CrashImage::read_chunks() {
  const std::uint64_t slots =
      std::min<std::uint64_t>(header().slot_count.load(std::memory_order_acquire), size_ / model::kChunkSize);
  std::vector<const ChunkHeader*> region_chunks;
  for (std::uint64_t slot = 0; slot < slots;) {
    const ChunkHeader* chunk = chunk_at(slot);
    if (chunk == nullptr) {
      // Slots are mapped many at once; one that was never taken has no magic yet.
      const std::uint64_t offset = model::kCrashHeaderSize + slot * model::kChunkSize;
      const bool there = offset + sizeof(ChunkHeader) <= size_;
      broken_ += there && reinterpret_cast<const ChunkHeader*>(data_ + offset)->magic != 0 ? 1 : 0;
      ++slot;
      continue;
    }
    switch (chunk->kind.load(std::memory_order_acquire)) {
      case ChunkKind::kEvents: events_.push_back(chunk); break;
      case ChunkKind::kDefinitions: read_definitions(*chunk); break;
      case ChunkKind::kRegions: region_chunks.push_back(chunk); break;
      default: break;
    }
    slot += chunk->slots;  // of free ones too: a chunk keeps its slots for good, and old records lie in them
  }
  for (const ChunkHeader* chunk : region_chunks) read_regions(*chunk);
  std::stable_sort(events_.begin(), events_.end(), [](const ChunkHeader* a, const ChunkHeader* b) {
    return std::tie(a->tid, a->stream, a->seq) < std::tie(b->tid, b->stream, b->seq);
  });
}

void CrashImage::read_definitions(const ChunkHeader& chunk) {
  const std::uint64_t committed = chunk.committed.load(std::memory_order_acquire);
  for (std::uint64_t at = 0; at + sizeof(model::DefinitionHeader) <= committed;) {
    const auto& entry = *reinterpret_cast<const model::DefinitionHeader*>(chunk.data() + at);
    const std::uint64_t text_size = std::uint64_t{entry.name_len} + entry.cat_len;
    if (entry.size % 8 != 0 || entry.size < sizeof entry + text_size || at + entry.size > committed) {
      ++broken_;
      return;
    }
    const char* text = chunk.data() + at + sizeof entry;
    switch (entry.of) {
      case model::DefinitionOf::kSite:
        sites_[entry.id] = {
            {text, entry.name_len}, {text + entry.name_len, entry.cat_len}, model::Layer{entry.layer_or_kind}};
        break;
      case model::DefinitionOf::kString: {
        model::StringDef string{{text, entry.name_len}, model::StringKind{entry.layer_or_kind}, {}};
        std::copy_n(entry.hash, sizeof entry.hash, string.hash);
        strings_[entry.id] = string;
        break;
      }
      case model::DefinitionOf::kSchema:
        if (entry.id <= model::kMaxSchemaId) schemas_[static_cast<model::SchemaId>(entry.id)] = {text, entry.name_len};
        break;
      default: break;
    }
    at += entry.size;
  }
}

void CrashImage::read_regions(const ChunkHeader& chunk) {
  const std::uint64_t committed = chunk.committed.load(std::memory_order_acquire);
  for (std::uint64_t at = 0; at + sizeof(model::RegionSlot) <= committed; at += sizeof(model::RegionSlot)) {
    const auto* slot = reinterpret_cast<const model::RegionSlot*>(chunk.data() + at);
    if (slot->state.load(std::memory_order_acquire) == 1) regions_.push_back(slot);
  }
}

std::string_view CrashImage::region_args(const model::RegionSlot& slot) const {
  const char* args = slot.args;
  std::size_t room = sizeof slot.args;
  const model::ArgExtent extent = slot.extent.load(std::memory_order_relaxed);
  if (extent.spilled != 0) {
    const ChunkHeader* spill = chunk_at(slot.spill_slot);
    if (spill == nullptr || spill->kind.load(std::memory_order_acquire) != ChunkKind::kSpill) return {};
    args = spill->data();
    room = spill->capacity();
  }
  return extent.bytes <= room ? std::string_view(args, extent.bytes) : std::string_view{};
}

bool CrashImage::site(model::SiteId id, model::SiteDef& out) const {
  const auto found = sites_.find(id);
  if (found == sites_.end()) return false;
  out = found->second;
  return true;
}

bool CrashImage::string(model::StringId id, model::StringDef& out) const {
  const auto found = strings_.find(id);
  if (found == strings_.end()) return false;
  out = found->second;
  return true;
}

bool CrashImage::schema(model::SchemaId id, model::SchemaView& out) const {
  const auto found = schemas_.find(id);
  if (found == schemas_.end()) return false;
  out = found->second;
  return true;
}

}  // namespace dft::tools
