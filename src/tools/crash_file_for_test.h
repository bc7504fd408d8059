// SPDX-License-Identifier: MIT
// Purpose: composes crash files as a process that dies leaves them. Ticks are nanoseconds, one slot per chunk.
#pragma once

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "model/crash_file.h"
#include "model/trace_format.h"

namespace dft::tools::test {

class CrashFileMaker {
 public:
  static constexpr std::uint64_t kTraceStart = 1'000'000'000;  // trace time of tick 0

  CrashFileMaker() : bytes_(model::kCrashHeaderSize, '\0') {
    auto& h = header();
    h.magic = model::kCrashMagic;
    h.version = model::kCrashVersion;
    h.chunk_size = model::kChunkSize;
    h.pid = 4242;
    h.metadata = 1;
    h.include_tids = 1;
    h.time_metric = model::TimeMetric::kUs;
    h.compression = 1;
    std::memcpy(h.host_hash, "2a702c695247d487", 16);
    h.next_id = 1;
    h.pending_next_id = 1;
    h.knot_count = 1;
    h.knots[0] = {0, kTraceStart, 1.0};
  }

  model::CrashHeader& header() { return *reinterpret_cast<model::CrashHeader*>(bytes_.data()); }

  // The reference is good until the next chunk.
  model::ChunkHeader& add_chunk(model::ChunkKind kind, int tid, std::uint64_t seq = 0, std::uint32_t slots = 1) {
    auto& chunk = add_unused(slots);
    chunk.magic = model::kChunkMagic;
    chunk.kind = kind;
    chunk.pid = 4242;
    chunk.tid = tid;
    chunk.seq = seq;
    return chunk;
  }

  // Mapped, but never taken: no magic, nothing behind the header.
  model::ChunkHeader& add_unused(std::uint32_t slots = 1) {
    const std::uint64_t slot = header().slot_count.load();
    const std::size_t size = std::size_t{slots} * model::kChunkSize;
    bytes_.resize(bytes_.size() + size, '\0');
    header().slot_count = slot + slots;
    auto& chunk = *reinterpret_cast<model::ChunkHeader*>(bytes_.data() + bytes_.size() - size);
    chunk.slots = slots;
    chunk.origin = model::kInCrashFile;
    chunk.file_slot = slot;
    return chunk;
  }

  static void add_site(model::ChunkHeader& chunk, std::uint32_t id, std::string_view name, std::string_view cat) {
    model::DefinitionHeader entry{};
    entry.size = static_cast<std::uint32_t>(sizeof entry + model::padded8(name.size() + cat.size()));
    entry.id = id;
    entry.of = model::DefinitionOf::kSite;
    entry.layer_or_kind = static_cast<std::uint8_t>(model::Layer::kCppApp);
    entry.name_len = static_cast<std::uint32_t>(name.size());
    entry.cat_len = static_cast<std::uint16_t>(cat.size());
    char* at = chunk.data() + chunk.committed.load();
    std::memcpy(at, &entry, sizeof entry);
    std::memcpy(at + sizeof entry, name.data(), name.size());
    std::memcpy(at + sizeof entry + name.size(), cat.data(), cat.size());
    chunk.committed = chunk.committed.load() + entry.size;
  }

  // An event with one arg `step`. Returns the chunk's fill after it.
  static std::uint64_t add_event(model::ChunkHeader& chunk, std::uint32_t site, std::uint64_t begin, std::uint64_t end,
                                 std::int64_t step) {
    model::RecordHeader record{};
    record.size = static_cast<std::uint32_t>(sizeof record + model::arg_size(4, 8));
    record.kind = model::RecordKind::kEvent;
    record.schema = model::kSelfDescribing;
    record.site = site;
    record.begin = begin;
    record.end = end;
    char* at = chunk.data() + chunk.committed.load();
    std::memcpy(at, &record, sizeof record);
    model::put_arg(at + sizeof record, model::ArgType::kInt64, "step", &step, 8);
    chunk.committed = chunk.committed.load() + record.size;
    return chunk.committed.load();
  }

  static model::RegionSlot& add_region(model::ChunkHeader& chunk, std::uint32_t site, std::uint64_t begin, int tid) {
    auto& slot = *reinterpret_cast<model::RegionSlot*>(chunk.data() + chunk.committed.load());
    slot.state = 1;
    slot.tid = tid;
    slot.site = site;
    slot.begin = begin;
    chunk.committed = chunk.committed.load() + sizeof(model::RegionSlot);
    return slot;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace dft::tools::test
