// SPDX-License-Identifier: MIT
#include "record/schema_table.h"

#include <cstring>

#include "base/hash.h"
#include "record/recorder.h"

namespace dft::record {

using model::ArgType;
using model::SchemaId;
using model::SchemaView;

namespace {

constexpr std::size_t kMaxFieldBytes = model::arg_size(64, 0);  // is_plain_key() allows no longer keys

std::uint64_t word_of(std::string_view key) {
  return key.size() <= 8 ? model::leading_word(key.data(), key.size()) : base::table_hash(key);
}

struct Fields {
  unsigned count = 0;
  bool has_key = false;
  ArgType type_of_key = ArgType::kInt64;
  std::string_view last;
};

Fields look_through(SchemaView schema, std::string_view key) {
  Fields fields;
  model::ArgCursor cursor(schema.fields, schema.bytes);
  for (model::ArgView field; cursor.next(field); ++fields.count) {
    fields.last = {field.key, field.key_len};
    if (fields.last != key) continue;
    fields.has_key = true;
    fields.type_of_key = field.type;
  }
  return fields;
}

}  // namespace

SchemaId SchemaTable::find(SchemaId from, ArgType type, std::string_view key) const {
  const std::uint64_t word = word_of(key);
  const std::uint64_t wanted = edge_of(from, model::ShortField::shape_of(type, key.size()));
  for (std::size_t i = place_of(from, word);; i = (i + 1) & (kPlaces - 1)) {
    const std::uint64_t edge = edges_[i].edge.load(std::memory_order_acquire);
    if (edge == 0) return model::kNoArgs;
    const std::uint64_t step = edge ^ wanted;
    if (step >= kSteps || edges_[i].key_word != word) continue;
    const auto to = static_cast<SchemaId>(from + step);
    // The hash of a long key only says where to look.
    SchemaView schema;
    if (key.size() <= 8 || (definitions_.schema(to, schema) && look_through(schema, key).last == key)) return to;
  }
}

SchemaId SchemaTable::extend(SchemaId from, ArgType type, std::string_view key) {
  if (from == model::kSelfDescribing || !model::fits_schema(type) || !model::is_plain_key(key)) {
    return model::kSelfDescribing;
  }
  if (const SchemaId known = find(from, type, key); known != model::kNoArgs) return known;
  SchemaView schema;
  if (from != model::kNoArgs && !definitions_.schema(from, schema)) return model::kSelfDescribing;
  const Fields fields = look_through(schema, key);
  if (fields.has_key) return fields.type_of_key == type ? from : model::kSelfDescribing;
  if (fields.count == model::kMaxFields || edge_count_.load(std::memory_order_relaxed) == kMaxEdges) {
    return model::kSelfDescribing;
  }
  recorder.settle_child();
  const base::LockGuard guard(lock_);
  if (const SchemaId known = find(from, type, key); known != model::kNoArgs) return known;
  return add(from, schema, type, key);
}

SchemaId SchemaTable::add(SchemaId from, SchemaView fields, ArgType type, std::string_view key) {
  const std::uint32_t count = edge_count_.load(std::memory_order_relaxed);
  if (count == kMaxEdges) return model::kSelfDescribing;
  char list[kMaxFieldBytes * model::kMaxFields];
  if (fields.bytes != 0) std::memcpy(list, fields.fields, fields.bytes);
  model::put_arg(list + fields.bytes, type, key, nullptr, 0);
  const SchemaId to = definitions_.add_schema({list, fields.bytes + model::arg_size(key.size(), 0)});
  if (to == model::kNoArgs) return model::kSelfDescribing;

  const std::uint64_t word = word_of(key);
  std::size_t i = place_of(from, word);
  while (edges_[i].edge.load(std::memory_order_relaxed) != 0) i = (i + 1) & (kPlaces - 1);
  edges_[i].key_word = word;
  const auto step = static_cast<std::uint64_t>(to - from);
  edges_[i].edge.store(edge_of(from, model::ShortField::shape_of(type, key.size())) | step, std::memory_order_release);
  edge_count_.store(count + 1, std::memory_order_relaxed);
  return to;
}

}  // namespace dft::record
