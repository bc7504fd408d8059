// SPDX-License-Identifier: MIT
// Purpose: the hot path: open and close regions, emit single records, attach args. Wait-free but for a full memory
// limit. Threads: any thread, any time, signal handlers included; errno is kept. Invariants: no lock, malloc, system
// call or formatting on the way, except when a thread takes or leaves a chunk.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "model/definitions.h"
#include "model/record.h"
#include "model/trace_format.h"

namespace dft::record {

struct Region;  // opaque handle; stale and stray values are recognised and ignored

// Interns (name, cat, layer); the same triple gets the same id for the life of the process, across restarts and forks.
// Cached by callers per call site; ~20 ns for a dynamic name.
model::SiteId site_id(std::string_view name, std::string_view cat, model::Layer layer);
// Interns a string that events refer to by hash (paths, host names, command lines).
model::StringId string_id(model::StringKind kind, std::string_view bytes);

// Opens a region of the calling thread. Null when nothing is recorded. `metadata_event`: updates are ignored.
Region* open_region(model::SiteId site, bool metadata_event = false);
// Closes it but emits its args as one METADATA record, or as one instant event; for records of any size without a heap.
void close_as_metadata(Region* region);
void close_as_instant(Region* region);
// Closes it and emits its record; regions of another thread are closed with the caller's tid. Null is allowed.
void close_region(Region* region);
// True for a region that is open now and was handed out by open_region (the C API accepts stray pointers).
bool is_open(const Region* region);

// Args of an open region. The last write to a key wins. Null regions are ignored.
void add_int64(Region* region, std::string_view key, std::int64_t value);
void add_uint64(Region* region, std::string_view key, std::uint64_t value);
void add_double(Region* region, std::string_view key, double value);
void add_bool(Region* region, std::string_view key, bool value);
void add_string(Region* region, std::string_view key, std::string_view value);
// The same for keys of 1 to 8 bytes that come as one word (model::leading_word), as the macros make them at compile
// time.
void add_word(Region* region, model::ArgType type, std::uint64_t key_word, std::uint32_t key_len, std::uint64_t bits);
void add_string(Region* region, std::uint64_t key_word, std::uint32_t key_len, std::string_view value);
void add_relation(Region* region, std::string_view relation, std::uint64_t entity);

// Args of a record that is emitted at once, gathered on the caller's stack: ArgList<256> args; args.add_int64("k", 1);
// Longer lists spill nowhere: add returns false and the list counts what it left out (`omitted()`).
class ArgWriter {
 public:
  ArgWriter(char* memory, std::size_t capacity) : memory_(memory), capacity_(capacity) {}
  bool add(model::ArgType type, std::string_view key, const void* value, std::size_t value_len);
  bool add_int64(std::string_view key, std::int64_t v) { return add(model::ArgType::kInt64, key, &v, 8); }
  bool add_uint64(std::string_view key, std::uint64_t v) { return add(model::ArgType::kUint64, key, &v, 8); }
  bool add_double(std::string_view key, double v) { return add(model::ArgType::kDouble, key, &v, 8); }
  bool add_string(std::string_view key, std::string_view v) {
    return add(model::ArgType::kString, key, v.data(), v.size());
  }
  bool add_hash(std::string_view key, model::StringId id) {
    const std::uint64_t v = id;
    return add(model::ArgType::kHash, key, &v, 8);
  }
  const char* data() const { return memory_; }
  std::size_t size() const { return size_; }
  std::uint16_t count() const { return count_; }
  unsigned omitted() const { return omitted_; }

 private:
  char* memory_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  std::uint16_t count_ = 0;
  unsigned omitted_ = 0;
};
template <std::size_t N>
class ArgList : public ArgWriter {
 public:
  ArgList() : ArgWriter(memory_, N) {}

 private:
  alignas(8) char memory_[N];
};

// One complete event with known times (ticks), one instant event, one counter sample, one metadata record.
void emit_event(model::SiteId site, base::Ticks begin, base::Ticks end, const ArgWriter& args, std::uint8_t flags = 0,
                std::uint32_t lane = 0);
void emit_instant(model::SiteId site, const ArgWriter& args);
void emit_metadata(model::SiteId site, const ArgWriter& args);

// True when records are being taken now (one load).
bool recording();

}  // namespace dft::record
