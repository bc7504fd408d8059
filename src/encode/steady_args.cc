// SPDX-License-Identifier: MIT
#include "encode/steady_args.h"

#include <cstring>

#include "encode/json_text.h"

namespace dft::encode {

using model::ArgType;

namespace {

bool is_integer(ArgType type) { return type == ArgType::kInt64 || type == ArgType::kUint64; }

// Null: of a type that is not kept.
char* put_steady(char* p, ArgType type, std::uint64_t bits, StringCache& strings) {
  switch (type) {
    case ArgType::kInt64: return text::put_int(p, static_cast<std::int64_t>(bits));
    case ArgType::kUint64: return text::put_uint(p, bits);
    case ArgType::kBool: *p = bits != 0 ? '1' : '0'; return p + 1;
    case ArgType::kHash: {
      const char* digits = bits >> 32 == 0 ? strings.find(static_cast<model::StringId>(bits)) : nullptr;
      if (digits == nullptr) return nullptr;
      *p = '"';
      std::memcpy(p + 1, digits, 16);
      p[17] = '"';
      return p + 18;
    }
    default: return nullptr;
  }
}

std::uint64_t value_of(const model::RecordHeader& record, unsigned field) {
  std::uint64_t value;
  std::memcpy(&value, model::args_begin(record) + field * sizeof value, sizeof value);
  return value;
}

}  // namespace

void SteadyArgs::learn(const model::RecordHeader& record, const SchemaText& schema, StringCache& strings,
                       const ArgsHead& args_head) {
  if (!prepare()) return;
  LineEnd& slot = slot_of(record);
  if (slot.state_ == LineEnd::State::kEmpty || !slot.is_for(record)) return take(slot, record, schema);
  if (slot.state_ == LineEnd::State::kRefused) return;
  for (unsigned i = 0; i < slot.fields_; ++i) {
    const std::uint64_t value = value_of(record, i);
    if (value != slot.known()[i]) slot.steady()[i] = 0;
    slot.known()[i] = value;
  }
  slot.state_ = slot.render(schema, strings, args_head) ? LineEnd::State::kReady : LineEnd::State::kRefused;
}

bool SteadyArgs::prepare() {
  if (!slots_.empty()) return true;
  constexpr std::size_t kBytes = kSlots * sizeof(LineEnd);
  if (!slots_.reserve(kBytes)) return false;
  slots_.advance(kBytes);  // a fresh mapping is zero: all empty
  return true;
}

void SteadyArgs::clear() {
  for (std::size_t at = 0; at < slots_.size(); at += sizeof(LineEnd)) {
    auto& slot = *reinterpret_cast<LineEnd*>(slots_.data() + at);
    if (slot.state_ != LineEnd::State::kEmpty) slot.state_ = LineEnd::State::kEmpty;  // untouched pages stay so
  }
}

void SteadyArgs::take(LineEnd& slot, const model::RecordHeader& record, const SchemaText& schema) {
  std::memcpy(&slot.first_word_, &record, sizeof slot.first_word_);
  slot.site_ = record.site;
  constexpr std::uint8_t kFlags = model::kFlagSteady | model::kFlagNanoseconds;
  bool fits = record.kind == model::RecordKind::kEvent && (record.flags & ~kFlags) == 0 &&
              model::args_bytes(record) == schema.fields * sizeof(std::uint64_t);
  const FieldText* field = schema.first();
  for (unsigned i = 0; i < schema.fields; ++i, field = field->next()) fits = fits && !model::is_text(field->type);
  slot.state_ = fits ? LineEnd::State::kSeen : LineEnd::State::kRefused;
  if (!fits) return;
  slot.fields_ = static_cast<std::uint8_t>(schema.fields);
  slot.front_ = static_cast<std::uint8_t>(-schema.fields % LineEnd::kAtOnce);
  for (unsigned i = 0; i < slot.front_; ++i) slot.known_[i] = slot.steady_[i] = 0;
  std::memcpy(slot.known(), model::args_begin(record), model::args_bytes(record));
  std::memset(slot.steady(), 0xff, model::args_bytes(record));
}

// Null: it has no place, or cannot be kept.
char* SteadyArgs::LineEnd::put_field(char* p, const FieldText& field, unsigned number, StringCache& strings) {
  constexpr std::ptrdiff_t kRoomForOne = 64 + text::kSlack;  // a value, and what its writer scribbles
  if (text_ + kTextSize - p < static_cast<std::ptrdiff_t>(field.padded_size()) + kRoomForOne) return nullptr;
  const std::uint64_t value = known()[number];
  if (steady()[number] != 0) {
    if (field.type == ArgType::kHash && value == 0) return p;  // it has no text
    return put_steady(field.put(p), field.type, value, strings);
  }
  if (!is_integer(field.type)) return nullptr;
  p = field.put(p);
  const auto end = static_cast<std::uint16_t>(p - text_);
  part_[parts_++] = {tail_offset_, static_cast<std::uint16_t>(end - tail_offset_), static_cast<std::uint16_t>(number),
                     field.type == ArgType::kInt64};
  tail_offset_ = end;
  return p;
}

bool SteadyArgs::LineEnd::render(const SchemaText& schema, StringCache& strings, const ArgsHead& args_head) {
  char* p = text::put_literal(text_, ",\"ph\":1");
  std::memcpy(p, args_head.text, sizeof args_head.text);
  p += ArgsHead::kSize;
  parts_ = 0;
  tail_offset_ = 0;
  const FieldText* field = schema.first();
  for (unsigned i = 0; i < fields_; ++i, field = field->next()) {
    p = put_field(p, *field, i, strings);
    if (p == nullptr) return false;
  }
  p = text::put_literal(p, "}}\n");
  const auto size = static_cast<std::uint16_t>(p - text_);
  tail_size_ = static_cast<std::uint16_t>(size - tail_offset_);
  room_ = static_cast<std::uint16_t>(size + parts_ * text::kMaxNumber + text::kReadAhead);
  return true;
}

}  // namespace dft::encode
