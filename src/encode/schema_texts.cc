// SPDX-License-Identifier: MIT
#include "encode/schema_texts.h"

#include "encode/json_text.h"

namespace dft::encode {
namespace {

using model::ArgType;

constexpr std::size_t kRoomForConstant = 40;  // a number, or a hash in quotes

struct Counted {
  unsigned fields;
  unsigned constants;
};

// Counts the fields of a list that could be one of ours: plain keys, each once. None when it is none.
Counted count_fields(const model::SchemaView& schema) {
  Counted count{0, 0};
  model::ArgCursor cursor(schema.fields, schema.bytes);
  for (model::ArgView field; cursor.next(field);) {
    const std::string_view key(field.key, field.key_len);
    if (count.fields + count.constants == model::kMaxFields) return {0, 0};
    if (!model::fits_schema(field.type) || !model::is_plain_key(key)) return {0, 0};
    if (field.value_len != 0 && (field.value_len != 8 || !model::fits_constant(field.type))) return {0, 0};
    ++(field.value_len != 0 ? count.constants : count.fields);
    model::ArgCursor earlier(schema.fields, schema.bytes);
    for (model::ArgView other; earlier.next(other) && other.key != field.key;) {
      if (std::string_view(other.key, other.key_len) == key) return {0, 0};
    }
  }
  return cursor.at_end() ? count : Counted{0, 0};
}

char* put_key(char* p, const model::ArgView& field) {
  p = text::put_literal(p, ",\"");
  std::memcpy(p, field.key, field.key_len);
  return text::put_literal(p + field.key_len, "\":");
}

char* put_scalar(char* p, const model::ArgView& field) {
  switch (field.type) {
    case ArgType::kInt64: return text::put_int(p, static_cast<std::int64_t>(field.bits()));
    case ArgType::kUint64: return text::put_uint(p, field.bits());
    case ArgType::kDouble: {
      double value;
      std::memcpy(&value, field.value, sizeof value);
      return text::put_double(p, value);
    }
    default: *p = field.bits() != 0 ? '1' : '0'; return p + 1;
  }
}

}  // namespace

bool SchemaTexts::prepare() {
  if (!places_.empty()) return true;
  constexpr std::size_t kBytes = (std::size_t{model::kMaxSchemaId} + 1) * sizeof(std::uint32_t);
  if (!places_.reserve(kBytes) || !arena_.reserve(8)) return false;
  std::memset(places_.data(), 0, kBytes);
  places_.advance(kBytes);
  arena_.clear();
  arena_.advance(8);  // no schema lies at 0
  return true;
}

void SchemaTexts::clear() {
  places_.clear();
  arena_.clear();
}

bool SchemaTexts::put_constant(char*& p, const model::ArgView& field) {
  if (field.type != ArgType::kHash) {
    p = put_scalar(put_key(p, field), field);
    return true;
  }
  if (field.bits() == 0) return true;  // no string
  const char* digits = field.bits() >> 32 == 0 ? strings_.find(static_cast<model::StringId>(field.bits())) : nullptr;
  lacks_definition_ = digits == nullptr;
  if (digits == nullptr) return false;
  p = put_key(p, field);
  *p = '"';
  std::memcpy(p + 1, digits, 16);
  p[17] = '"';
  p += 18;
  return true;
}

// Texts into the arena, whose room is reserved. False when a hash is not defined.
bool SchemaTexts::put_fields(SchemaText& made, const model::SchemaView& schema) {
  auto* text = const_cast<FieldText*>(made.first());
  char* begin = const_cast<char*>(text->text());
  char* p = begin;
  const auto end_text = [&](ArgType type) {
    text->type = type;
    text->size = static_cast<std::uint32_t>(p - begin);
    made.room += text->size;
    arena_.advance(sizeof *text + text->padded_size());
    text = const_cast<FieldText*>(text->next());
    p = begin = const_cast<char*>(text->text());
  };
  model::ArgCursor cursor(schema.fields, schema.bytes);
  for (model::ArgView field; cursor.next(field);) {
    if (field.value_len != 0) {
      if (!put_constant(p, field)) return false;
      continue;
    }
    p = put_key(p, field);
    end_text(field.type);
  }
  end_text(ArgType::kDropped);
  return true;
}

const SchemaText* SchemaTexts::render(model::SchemaId id) {
  model::SchemaView schema;
  lacks_definition_ = false;
  if (id == model::kNoArgs || id > model::kMaxSchemaId || !definitions_.schema(id, schema)) return nullptr;
  const Counted count = count_fields(schema);
  const unsigned all = count.fields + count.constants;
  const std::size_t bound =
      sizeof(SchemaText) + (all + 1) * (sizeof(FieldText) + 80 + kRoomForConstant) + text::kSlack + text::kReadAhead;
  if (all == 0 || !prepare() || !arena_.reserve(bound)) return nullptr;

  const std::size_t place = arena_.size();
  auto& made = *reinterpret_cast<SchemaText*>(arena_.end());
  made.fields = count.fields;
  made.room = 0;
  made.has_constants = count.constants != 0;
  arena_.advance(sizeof made);
  if (!put_fields(made, schema)) {
    arena_.resize_down(place);
    return nullptr;
  }
  reinterpret_cast<std::uint32_t*>(places_.data())[id] = static_cast<std::uint32_t>(place);
  return &made;
}

}  // namespace dft::encode
