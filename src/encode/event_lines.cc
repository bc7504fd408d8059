// SPDX-License-Identifier: MIT
#include "encode/event_lines.h"

#include <cstring>

namespace dft::encode {

using model::ArgType;

namespace {

std::uint64_t value_of(const model::RecordHeader& record, unsigned field) {
  std::uint64_t value;
  std::memcpy(&value, model::args_begin(record) + field * sizeof value, sizeof value);
  return value;
}

bool can_have_one(const model::RecordHeader& record, const SchemaText& schema) {
  bool integers = record.lane != 0 && schema.fields <= EventLine::kMostFields &&
                  record.kind == model::RecordKind::kEvent && record.flags == model::kFlagConstants &&
                  model::args_bytes(record) == schema.fields * sizeof(std::uint64_t);
  const FieldText* field = schema.first();
  for (unsigned i = 0; integers && i < schema.fields; ++i, field = field->next()) {
    integers = field->type == ArgType::kInt64 || field->type == ArgType::kUint64;
  }
  return integers && schema.room < 8192;
}

}  // namespace

void EventLine::bring_to(const LineFrame& frame) {
  frame.put_head_of_id(site_text());
  char* const behind_time = frame.put_head_of_time(site_text() + site_size_) + kTimeAndKey;
  std::memcpy(behind_time - 7, ",\"dur\":", 7);
  size_behind_id_ = static_cast<std::uint32_t>(behind_time - site_text());
  head_pieces_ = static_cast<std::uint32_t>(text::pieces_of(frame.id_size() + size_behind_id_));
  version_ = frame.version();
}

void EventLine::begin_piece(const char* at) {
  piece_[pieces_] = {};
  piece_[pieces_].offset = static_cast<std::uint16_t>(at - end_text());
}

void EventLine::end_piece(const char* at) {
  const std::size_t size = static_cast<std::size_t>(at - end_text()) - piece_[pieces_].offset;
  piece_[pieces_].size = static_cast<std::uint16_t>(size);
  piece_[pieces_].copies = static_cast<std::uint8_t>(text::pieces_of(size));
}

char* EventLine::put_number(char* p, unsigned number, bool is_signed, std::uint64_t value) {
  if (is_signed && static_cast<std::int64_t>(value) < 0) jumps_ = static_cast<std::uint8_t>(jumps_ | 1u << number);
  Piece& piece = piece_[pieces_];
  if (value >= kShort && !jumps(number)) {
    p = text::put_uint(p, value);
    const auto at = static_cast<std::uint16_t>(p - 4 - end_text() - piece.offset);
    counter_[counters_++] = {value - value % kShort, at, static_cast<std::uint16_t>(number), 0};
    ++piece.counters;
    return p;
  }
  end_piece(p);
  piece.field = static_cast<std::uint8_t>(number);
  piece.is_signed = is_signed;
  piece.jumps = jumps(number);
  ++pieces_;
  begin_piece(p);
  return p;
}

void EventLine::render(const SchemaText& schema, const ArgsHead& args_head, const model::RecordHeader& record) {
  pieces_ = counters_ = 0;
  begin_piece(end_text());
  char* p = text::put_literal(end_text(), ",\"ph\":1");
  std::memcpy(p, args_head.text, sizeof args_head.text);
  p += ArgsHead::kSize;
  const FieldText* field = schema.first();
  for (unsigned i = 0; i < fields_; ++i, field = field->next()) {
    p = put_number(field->put(p), i, field->type == ArgType::kInt64, value_of(record, i));
  }
  p = text::put_literal(field->put(p), "}}\n");
  end_piece(p);
}

// Counters that outgrow their place at every other use are none.
bool EventLine::note_misfits(const model::RecordHeader& record) {
  bool are_some = false;
  constexpr std::uint32_t kFree = 4;
  constexpr std::uint32_t kUsesForOne = 64;  // rendering anew must cost little beside them
  const auto note = [&](unsigned field) {
    are_some = true;
    if (misfits_[field] < 255) ++misfits_[field];
    if (misfits_[field] < 255 && misfits_[field] <= kFree + uses_ / kUsesForOne) return;
    jumps_ = static_cast<std::uint8_t>(jumps_ | 1u << field);
  };
  for (unsigned i = 0; i < counters_; ++i) {
    if (value_of(record, counter_[i].field) - counter_[i].base >= kShort) note(counter_[i].field);
  }
  for (unsigned i = 0; i < pieces_; ++i) {
    if (!piece_[i].jumps && value_of(record, piece_[i].field) >= kShort) note(piece_[i].field);
  }
  return are_some;
}

bool EventLines::prepare() {
  if (!places_.empty()) return true;
  constexpr std::size_t kBytes = (std::size_t{model::kMaxSchemaId} + 1) * sizeof(std::uint32_t);
  if (!places_.reserve(kBytes) || !arena_.reserve(sizeof(EventLine))) return false;
  std::memset(places_.data(), 0, kBytes);
  places_.advance(kBytes);
  arena_.clear();
  std::memset(arena_.data(), 0, sizeof(EventLine));
  arena_.advance(sizeof(EventLine));
  return true;
}

void EventLines::add(const model::RecordHeader& record, model::Layer layer, std::string_view head,
                     const SchemaText& schema, const ArgsHead& args_head) {
  if (!can_have_one(record, schema)) return;
  constexpr std::size_t kFrame = 64;  // dur, ph, hhash, braces
  const std::size_t end_at = LineFrame::kMostId + head.size() + LineFrame::kMostTime;
  const std::size_t room = end_at + schema.room + kFrame + schema.fields * std::size_t{text::kMaxNumber};
  const std::size_t size = model::padded8(sizeof(EventLine) + room + text::kSlack);
  if (!prepare() || arena_.size() + size > kArenaLimit || !arena_.reserve(size + text::kReadAhead)) return;
  auto& line = *reinterpret_cast<EventLine*>(arena_.end());
  std::memset(static_cast<void*>(&line), 0, sizeof line);
  std::memcpy(line.words_, &record, sizeof line.words_);
  line.layer_bit_ = layer_bit(layer);
  line.fields_ = static_cast<std::uint8_t>(schema.fields);
  const std::size_t room_in_line = room + (schema.fields + 2) * text::kReadAhead + text::kSlack;
  if (room_in_line > most_room_) most_room_ = room_in_line;
  line.end_at_ = static_cast<std::uint32_t>(end_at);
  line.site_size_ = static_cast<std::uint32_t>(head.size());
  std::memcpy(line.site_text(), head.data(), head.size());
  line.render(schema, args_head, record);
  reinterpret_cast<std::uint32_t*>(places_.data())[record.schema] = static_cast<std::uint32_t>(arena_.size());
  arena_.advance(size);
}

void EventLines::renew(EventLine& line, const model::RecordHeader& record, const SchemaText& schema,
                       const ArgsHead& args_head) {
  if (line.note_misfits(record)) line.render(schema, args_head, record);
}

void EventLines::clear() {
  most_room_ = 0;
  places_.clear();
  arena_.clear();
}

}  // namespace dft::encode
