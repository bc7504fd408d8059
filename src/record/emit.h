// SPDX-License-Identifier: MIT
// Purpose: the hot path: open and close regions, emit single records, attach args. Wait-free but for a full memory
// limit. Threads: any thread, any time, signal handlers included; errno is kept. Invariants: no lock, malloc, system
// call or formatting on the way, except when a thread takes or leaves a chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
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
// Closes it as an event of other times than its own, given in nanoseconds of the trace's clock.
void close_region_at(Region* region, std::uint64_t begin_ns, std::uint64_t end_ns);
// Closes it and leaves no record: what it was to measure turned out to be nothing.
void drop_region(Region* region);
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
// The same for keys of 1 to 8 bytes, which the macros make words of at compile time; keys of other lengths and words of
// other types than the four above are ignored. REQUIRES of add_text: the field is of type kString.
void add_word(Region* region, model::ShortField field, std::uint64_t bits);
void add_text(Region* region, model::ShortField field, const char* text, std::size_t length);
void add_relation(Region* region, std::string_view relation, std::uint64_t entity);

// Args of a record that is emitted at once, gathered on the caller's stack: ArgList<256> args; args.add_int64("k", 1);
// Longer lists spill nowhere: add returns false and the list counts what it left out (`omitted()`).
class ArgWriter {
 public:
  ArgWriter(char* memory, std::size_t capacity) : memory_(memory), capacity_(capacity) {}
  bool add(model::ArgType type, std::string_view key, const void* value, std::size_t value_len) {
    const std::size_t size = model::arg_size(key.size(), value_len);
    if (key.size() > 0xffff || size > capacity_ - size_) {
      ++omitted_;
      return false;
    }
    model::put_arg(memory_ + size_, type, key, value, value_len);
    size_ += size;
    return true;
  }
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
  unsigned omitted() const { return omitted_; }

 private:
  char* memory_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  unsigned omitted_ = 0;
};
template <std::size_t N>
class ArgList : public ArgWriter {
 public:
  ArgList() : ArgWriter(memory_, N) {}

 private:
  alignas(8) char memory_[N];
};

// Args whose names and types are known beforehand: the schema is interned once, then each record carries values only.
struct ArgField {
  model::ArgType type;
  std::string_view key;  // plain (model::is_plain_key), of the same schema each once
};
// kSelfDescribing when there can be no such schema (an odd key, more than model::kMaxFields, no memory): use ArgWriter.
model::SchemaId schema_id(const ArgField* fields, std::size_t count);

// The same with fields that have one value in all records of the schema, which then carry none for it. Every call makes
// another schema, of which there are model::kMaxConstantSchemas at most.
struct FieldOrConstant {
  ArgField field;
  bool is_constant;
  std::uint64_t value;  // of a constant: a scalar, or the StringId of a hash
};
model::SchemaId schema_id(const FieldOrConstant* fields, std::size_t count);

// The values, one for each field and in their order, gathered on the caller's stack.
template <std::size_t N>
class ValueList {
 public:
  void add(std::uint64_t bits) { put(&bits, 8); }  // a scalar, or the StringId of a hash
  void add_double(double v) { put(&v, 8); }
  // A text that does not fit any more is cut: REQUIRES 8 bytes of room for each field.
  void add_string(std::string_view v) {
    if (v.size() > N - size_ - 8) v = v.substr(0, (N - size_ - 8) & ~std::size_t{7});
    add(v.size());
    model::copy_value(memory_ + size_, v.data(), v.size());
    size_ += model::padded8(v.size());
  }
  const char* data() const { return memory_; }
  std::size_t size() const { return size_; }

 private:
  void put(const void* word, std::size_t size) {
    std::memcpy(memory_ + size_, word, size);
    size_ += size;
  }
  std::size_t size_ = 0;
  alignas(8) char memory_[N];
};

// Args of either form, as the emitting calls take them.
struct Args {
  Args() = default;
  Args(const ArgWriter& args)  // NOLINT(google-explicit-constructor)
      : data(args.data()), size(args.size()), schema(size != 0 ? model::kSelfDescribing : model::kNoArgs) {}
  template <std::size_t N>
  Args(model::SchemaId id, const ValueList<N>& values) : data(values.data()), size(values.size()), schema(id) {}
  const char* data = nullptr;
  std::size_t size = 0;
  model::SchemaId schema = model::kNoArgs;
};

// One complete event with known times (ticks), one instant event, one counter sample, one metadata record.
void emit_event(model::SiteId site, base::Ticks begin, base::Ticks end, const Args& args, std::uint8_t flags = 0,
                std::uint32_t lane = 0);
void emit_instant(model::SiteId site, const Args& args);
void emit_metadata(model::SiteId site, const Args& args, std::uint32_t lane = 0);

// True when records are being taken now (one load).
bool recording();

}  // namespace dft::record
