// SPDX-License-Identifier: MIT
#include "encode/schema_texts.h"

#include "encode/json_text.h"

namespace dft::encode {
namespace {

// Counts the fields of a list that could be one of ours: plain keys, each once. 0 when it is none.
unsigned count_fields(const model::SchemaView& schema) {
  unsigned count = 0;
  model::ArgCursor cursor(schema.fields, schema.bytes);
  for (model::ArgView field; cursor.next(field); ++count) {
    const std::string_view key(field.key, field.key_len);
    if (count == model::kMaxFields || !model::fits_schema(field.type) || !model::is_plain_key(key)) return 0;
    if (field.value_len != 0) return 0;
    model::ArgCursor earlier(schema.fields, schema.bytes);
    for (model::ArgView other; earlier.next(other) && other.key != field.key;) {
      if (std::string_view(other.key, other.key_len) == key) return 0;
    }
  }
  return cursor.at_end() ? count : 0;
}

}  // namespace

bool SchemaTexts::prepare() {
  if (!places_.empty()) return true;
  constexpr std::size_t kBytes = (std::size_t{model::kMaxSchemas} + 1) * sizeof(std::uint32_t);
  if (!places_.reserve(kBytes) || !arena_.reserve(8)) return false;
  std::memset(places_.data(), 0, kBytes);
  places_.advance(kBytes);
  arena_.clear();
  arena_.advance(8);  // no schema lies at 0
  return true;
}

const SchemaText* SchemaTexts::render(model::SchemaId id) {
  model::SchemaView schema;
  if (id == model::kNoArgs || id > model::kMaxSchemas || !definitions_.schema(id, schema)) return nullptr;
  const unsigned count = count_fields(schema);
  const std::size_t bound = sizeof(SchemaText) + count * (sizeof(FieldText) + 80) + 16;  // the last copy reads 16 bytes
  if (count == 0 || !prepare() || !arena_.reserve(bound)) return nullptr;

  const std::size_t place = arena_.size();
  auto& made = *reinterpret_cast<SchemaText*>(arena_.end());
  made.fields = count;
  made.room = 0;
  arena_.advance(sizeof made);
  model::ArgCursor cursor(schema.fields, schema.bytes);
  for (model::ArgView field; cursor.next(field);) {
    auto& text = *reinterpret_cast<FieldText*>(arena_.end());
    text.type = field.type;
    char* const begin = arena_.end() + sizeof text;
    char* p = text::put_literal(begin, ",\"");
    std::memcpy(p, field.key, field.key_len);
    p = text::put_literal(p + field.key_len, "\":");
    text.size = static_cast<std::uint32_t>(p - begin);
    made.room += text.size;
    arena_.advance(sizeof text + text.padded_size());
  }
  reinterpret_cast<std::uint32_t*>(places_.data())[id] = static_cast<std::uint32_t>(place);
  return reinterpret_cast<const SchemaText*>(arena_.data() + place);
}

}  // namespace dft::encode
