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

}  // namespace

char* SteadyArgs::put(char* p, const model::RecordHeader& record) const {
  if (__builtin_expect(slots_.empty(), 0)) return nullptr;
  const Slot& slot = slot_of(record);
  if (slot.site != record.site || slot.schema != record.schema || slot.state != State::kReady) return nullptr;
  if (model::args_bytes(record) != slot.fields * sizeof(std::uint64_t)) return nullptr;
  const auto* values = reinterpret_cast<const std::uint64_t*>(model::args_begin(record));
  const std::uint64_t* known = slot.values;
  // What is written before a difference shows is written over by the caller.
  std::uint64_t differs = 0;
  unsigned at = 0;
  for (const Part* part = slot.part; part != slot.part + slot.parts; ++part) {
    for (; at < part->field; ++at) differs |= values[at] ^ known[at];
    p = text::put_padded(p, slot.text + part->offset, part->size);
    std::uint64_t value = values[at++];
    if (part->is_signed && static_cast<std::int64_t>(value) < 0) {
      *p++ = '-';
      value = 0 - value;
    }
    p = text::put_uint(p, value);
  }
  for (; at < slot.fields; ++at) differs |= values[at] ^ known[at];
  if (__builtin_expect(differs != 0, 0)) return nullptr;
  return slot.tail_size == 0 ? p : text::put_padded(p, slot.text + slot.tail_offset, slot.tail_size);
}

void SteadyArgs::learn(const model::RecordHeader& record, const SchemaText& schema, StringCache& strings) {
  if (schema.fields > kMost || !prepare()) return;
  Slot& slot = slot_of(record);
  if (slot.site != record.site || slot.schema != record.schema || slot.state == State::kEmpty) {
    return take(slot, record, schema);
  }
  if (slot.state == State::kRefused || model::args_bytes(record) != slot.fields * sizeof(std::uint64_t)) return;
  const auto* values = reinterpret_cast<const std::uint64_t*>(model::args_begin(record));
  for (unsigned i = 0; i < slot.fields; ++i) {
    if (values[i] != slot.values[i]) slot.changes |= std::uint32_t{1} << i;
    slot.values[i] = values[i];
  }
  slot.state = render(slot, schema, strings) ? State::kReady : State::kRefused;
}

bool SteadyArgs::prepare() {
  if (!slots_.empty()) return true;
  constexpr std::size_t kBytes = kSlots * sizeof(Slot);
  if (!slots_.reserve(kBytes)) return false;
  slots_.advance(kBytes);  // a fresh mapping is zero: all empty
  return true;
}

void SteadyArgs::clear() {
  for (std::size_t at = 0; at < slots_.size(); at += sizeof(Slot)) {
    auto& slot = *reinterpret_cast<Slot*>(slots_.data() + at);
    if (slot.state != State::kEmpty) slot.state = State::kEmpty;  // untouched pages stay so
  }
}

void SteadyArgs::take(Slot& slot, const model::RecordHeader& record, const SchemaText& schema) {
  slot.site = record.site;
  slot.schema = record.schema;
  slot.fields = static_cast<std::uint16_t>(schema.fields);
  bool fits = model::args_bytes(record) == schema.fields * sizeof(std::uint64_t);
  const FieldText* field = schema.first();
  for (unsigned i = 0; i < schema.fields; ++i, field = field->next()) fits = fits && !model::is_text(field->type);
  slot.state = fits ? State::kSeen : State::kRefused;
  if (!fits) return;
  std::memcpy(slot.values, model::args_begin(record), model::args_bytes(record));
  slot.changes = 0;
}

bool SteadyArgs::render(Slot& slot, const SchemaText& schema, StringCache& strings) {
  constexpr std::size_t kRoomForOne = 64 + text::kSlack;  // a value, and what its writer scribbles
  char* const begin = slot.text;
  char* const limit = slot.text + kTextSize;
  char* p = begin;
  char* part_begin = begin;
  slot.parts = 0;
  const FieldText* field = schema.first();
  for (unsigned i = 0; i < slot.fields; ++i, field = field->next()) {
    if (static_cast<std::size_t>(limit - p) < field->padded_size() + kRoomForOne) return false;
    const bool absent = field->type == ArgType::kHash && slot.values[i] == 0;
    if ((slot.changes >> i & 1u) == 0) {
      if (absent) continue;  // it has no text
      p = put_steady(field->put(p), field->type, slot.values[i], strings);
      if (p == nullptr) return false;
      continue;
    }
    if (!is_integer(field->type)) return false;
    p = field->put(p);
    slot.part[slot.parts++] = {static_cast<std::uint16_t>(part_begin - begin),
                               static_cast<std::uint16_t>(p - part_begin), static_cast<std::uint16_t>(i),
                               field->type == ArgType::kInt64};
    part_begin = p;
  }
  slot.tail_offset = static_cast<std::uint16_t>(part_begin - begin);
  slot.tail_size = static_cast<std::uint16_t>(p - part_begin);
  return true;
}

}  // namespace dft::encode
