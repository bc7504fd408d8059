// SPDX-License-Identifier: MIT
// Purpose: a crash file in memory, every length and offset in it checked: the definitions, records and open regions of
//          the dead process.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/crash_file.h"
#include "model/definitions.h"

namespace dft::tools {

class CrashImage final : public model::Definitions {
 public:
  // Null, with the reason, when this is no crash file of a version that we know.
  static std::unique_ptr<CrashImage> open(const std::string& path, std::string& reason);
  ~CrashImage();
  CrashImage(const CrashImage&) = delete;
  CrashImage& operator=(const CrashImage&) = delete;

  const model::CrashHeader& header() const { return *reinterpret_cast<const model::CrashHeader*>(data_); }
  bool process_lives() const { return locked_by_other_; }

  // Chunks of records, each thread's in the order of their making.
  const std::vector<const model::ChunkHeader*>& events() const { return events_; }
  const std::vector<const model::RegionSlot*>& regions() const { return regions_; }
  // Args of an open region; empty when they cannot be trusted.
  std::string_view region_args(const model::RegionSlot& slot) const;
  // Chunks that cannot be read.
  std::uint64_t broken_chunks() const { return broken_; }

  bool site(model::SiteId id, model::SiteDef& out) const override;
  bool string(model::StringId id, model::StringDef& out) const override;
  bool schema(model::SchemaId id, model::SchemaView& out) const override;

 private:
  CrashImage() = default;
  void read_chunks();
  void read_definitions(const model::ChunkHeader& chunk);
  void read_regions(const model::ChunkHeader& chunk);
  const model::ChunkHeader* chunk_at(std::uint64_t slot) const;

  char* data_ = nullptr;
  std::size_t size_ = 0;
  int fd_ = -1;
  bool locked_by_other_ = false;
  std::uint64_t broken_ = 0;
  std::vector<const model::ChunkHeader*> events_;
  std::vector<const model::RegionSlot*> regions_;
  std::unordered_map<model::SiteId, model::SiteDef> sites_;
  std::unordered_map<model::StringId, model::StringDef> strings_;
  std::unordered_map<model::SchemaId, model::SchemaView> schemas_;
};

}  // namespace dft::tools
