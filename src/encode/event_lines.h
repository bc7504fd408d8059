// SPDX-License-Identifier: MIT
// Purpose: the lines of events whose schema has constants (model/args.h), each rendered once: its head, up to dur, and
//          its end, everything behind dur. Of a number that moves slowly (id, ts, a counter) only the last digits are
//          written into the rendered text; a number that jumps stands between two texts.
// Threads: one owner. Memory is bounded.
// Invariants:
//   1. Hashes in a text are defined in the file, so it must be cleared together with the strings (StringCache).
//   2. A line is that of one site and lane, the first that came with the schema; records of another are written in the
//      general way.
//   3. Its id and ts are those of one version of the LineFrame, but for the digits that each line writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/buffer.h"
#include "encode/line_texts.h"
#include "encode/record_args.h"
#include "encode/schema_texts.h"
#include "model/record.h"

namespace dft::encode {

constexpr std::uint32_t layer_bit(model::Layer layer) { return 1u << (static_cast<unsigned>(layer) & 31); }

// The line of the events of one schema, site and lane.
class EventLine {
 public:
  static constexpr unsigned kMostFields = 4;
  // Whether `record` is one of them, with as many values as it should have.
  bool is_for(const model::RecordHeader& record) const {
    std::uint64_t words[2];
    std::memcpy(words, &record, sizeof words);
    return words[0] == words_[0] && words[1] == words_[1] && record.begin <= record.end;
  }
  std::uint32_t layer_bit() const { return layer_bit_; }
  bool is_of(std::uint32_t version) const { return version_ == version; }
  void bring_to(const LineFrame& frame);
  // REQUIRES for both: is_for(record), EventLines::Found::most_room bytes. For this one also is_of(frame.version),
  // frame.covers(ts).
  template <typename Copy>
  [[gnu::always_inline]] char* put_head(char* p, const LineFrame::Digits& frame, std::uint64_t ts) {
    const std::size_t id_size = frame.id_size;
    char* const end = Copy::put(p, site_text() - id_size, id_size + size_behind_id_, head_pieces_);
    frame.put_id(p);
    frame.put_time(end - kTimeAndKey, ts);
    return end;
  }
  // Null: a number does not fit the place that it had, and EventLines::renew() makes another.
  template <typename Copy>
  char* put_end(char* p, const model::RecordHeader& record);

 private:
  friend class EventLines;
  static constexpr std::uint64_t kShort = 10000;     // numbers below it are no counters
  static constexpr std::size_t kTimeAndKey = 8 + 7;  // the last digits of ts, and ,"dur":
  // A number within a text: as long as it keeps all but its last four digits, these are all that is written.
  struct Counter {
    std::uint64_t base;  // the number with zeros for the last four
    std::uint16_t at;    // where the last four stand, from the begin of their piece
    std::uint16_t field;
    std::uint32_t reserved;
  };
  // A text with the counters in it, and behind it a number of any length.
  struct Piece {
    std::uint16_t offset;  // from the begin of the end
    std::uint16_t size;
    std::uint8_t copies;  // text::pieces_of(size)
    std::uint8_t counters;
    std::uint8_t field;
    bool is_signed : 1;
    bool jumps : 1;  // else it is short, and a longer one is to become a counter
  };
  static_assert(sizeof(Piece) == 8);

  void render(const SchemaText& schema, const ArgsHead& args_head, const model::RecordHeader& record);
  char* put_number(char* p, unsigned number, bool is_signed, std::uint64_t value);
  bool note_misfits(const model::RecordHeader& record);  // false: there are none
  void begin_piece(const char* at);
  void end_piece(const char* at);
  bool jumps(unsigned number) const { return (jumps_ >> number & 1u) != 0; }
  char* text() { return reinterpret_cast<char*>(this + 1); }
  char* site_text() { return text() + LineFrame::kMostId; }
  char* end_text() { return text() + end_at_; }

  std::uint64_t words_[2];        // of its records: size, kind, flags, schema; site, lane
  std::uint32_t version_;         // of the frame
  std::uint32_t size_behind_id_;  // of the head
  std::uint32_t head_pieces_;     // text::pieces_of() the head
  std::uint32_t end_at_;
  std::uint32_t site_size_;
  std::uint32_t uses_;
  std::uint32_t layer_bit_;
  std::uint8_t fields_;
  std::uint8_t jumps_;   // bit per field: a number that is no counter
  std::uint8_t pieces_;  // with a number behind them; one more ends the line
  std::uint8_t counters_;
  std::uint8_t misfits_[kMostFields];
  Piece piece_[kMostFields + 1];
  Counter counter_[kMostFields];
};

class EventLines {
 public:
  // All lines, as values of their own for a run of records. Valid until the next call of add() or clear().
  struct Found {
    const std::uint32_t* places;
    std::size_t count;
    std::size_t most_room;  // bytes of the longest line, and what is overwritten behind it
    char* arena;
    // Null, or one that is for no record: not rendered yet.
    EventLine* of(model::SchemaId id) const {
      return __builtin_expect(id < count, 1) ? reinterpret_cast<EventLine*>(arena + places[id]) : nullptr;
    }
  };
  Found all() {
    const auto* const places = reinterpret_cast<const std::uint32_t*>(places_.data());
    return {places, places_.size() / sizeof *places, most_room_, arena_.data()};
  }
  bool has(model::SchemaId id) {
    const Found found = all();
    return id < found.count && found.places[id] != 0;
  }
  // Renders that of a record that was written in the general way; `head` is its line from the name up to ts. Nothing
  // when it is not of the kind that can have one, or memory is refused.
  void add(const model::RecordHeader& record, model::Layer layer, std::string_view head, const SchemaText& schema,
           const ArgsHead& args_head);
  // Makes room for the record's numbers, where one has outgrown its place.
  static void renew(EventLine& line, const model::RecordHeader& record, const SchemaText& schema,
                    const ArgsHead& args_head);
  void clear();
  void forget() {  // fork child: without unmapping
    places_.forget();
    arena_.forget();
  }

 private:
  static constexpr std::size_t kArenaLimit = 8 * 1024 * 1024;
  bool prepare();
  base::Buffer places_;  // by schema: where in the arena, 0: not yet
  base::Buffer arena_;   // at 0 a line of no record
  std::size_t most_room_ = 0;
};

template <typename Copy>
[[gnu::always_inline]] inline char* EventLine::put_end(char* p, const model::RecordHeader& record) {
  const char* const values = model::args_begin(record);
  const auto value_of = [values](unsigned field) {
    std::uint64_t value;
    std::memcpy(&value, values + field * sizeof value, sizeof value);
    return value;
  };
  const char* const texts = end_text();
  ++uses_;
  const Counter* counter = counter_;
  const auto put_piece = [&](const Piece& of) __attribute__((always_inline)) {
    char* const begin = p;
    p = Copy::put(p, texts + of.offset, of.size, of.copies);
    for (const Counter* const end = counter + of.counters; counter != end; ++counter) {
      const std::uint64_t low = value_of(counter->field) - counter->base;
      if (__builtin_expect(low >= kShort, 0)) return false;
      text::put_four(begin + counter->at, static_cast<std::uint32_t>(low));
    }
    return true;
  };
  const Piece* piece = piece_;
  for (const Piece* const last = piece_ + pieces_; piece != last; ++piece) {
    if (!put_piece(*piece)) return nullptr;
    std::uint64_t value = value_of(piece->field);
    if (__builtin_expect(value < kShort, 1)) {
      p = text::put_below_1e4(p, static_cast<std::uint32_t>(value));
      continue;
    }
    if (!piece->jumps) return nullptr;
    if (piece->is_signed && static_cast<std::int64_t>(value) < 0) {
      *p++ = '-';
      value = 0 - value;
    }
    p = text::put_uint(p, value);
  }
  if (piece->size <= 16) {  // mostly: the last number ends the args
    std::memcpy(p, texts + piece->offset, 16);
    return p + piece->size;
  }
  return put_piece(*piece) ? p : nullptr;
}

}  // namespace dft::encode
