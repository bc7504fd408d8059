// SPDX-License-Identifier: MIT
// Purpose: one JSON object -> one Event: keys of all generations, derived and corrected fields, and what is missing.
// Threads: one owner, lives for one line.
#pragma once

#include <string>
#include <string_view>

#include "read/compact_cursor.h"
#include "read/event.h"
#include "read/json_tokens.h"

namespace dft::read {

// Cursor: JsonCursor or CompactCursor.
template <class Cursor>
class EventBuilder {
 public:
  EventBuilder(Cursor& cursor, Arena& arena, std::vector<HashRef>* refs)
      : cursor_(cursor), arena_(arena), refs_(refs) {}

  // Consumes the object at the cursor. False: grammar error (the cursor has the reason).
  bool read();
  // To be called after read(): derives what is not written. False: the record is not usable as an event, or in strict
  // mode not exactly as the format says; `reason` says why.
  bool complete(bool strict, std::string& reason);
  Event& event() { return event_; }

 private:
  enum Field { kName, kCat, kType, kPh, kId, kPid, kTid, kTs, kDur, kArgs, kFields };
  bool member(std::string_view key);
  bool arg(std::string_view key);
  bool take_number(Field field, const Value& value);
  void take_phase(const Value& value);
  void take_arg_text(const Value& value, std::string_view& out);
  void take_known_arg(std::string_view key, const Value& value);
  void take_ref(std::string_view key, const Value& value);
  std::string_view text_of(const Value& value);
  void derive_phase();
  void derive_generation();
  bool usable(std::string& reason);
  bool exact(std::string& reason) const;
  bool seen(Field field) const { return (seen_ >> field & 1) != 0; }
  bool bad(Field field) const { return (bad_ >> field & 1) != 0; }

  Cursor& cursor_;
  Arena& arena_;
  std::vector<HashRef>* refs_;
  Event event_;
  unsigned seen_ = 0;
  unsigned bad_ = 0;     // wrong type
  unsigned quoted_ = 0;  // number written as a string (G1a)
  char letter_ = '\0';   // ph as a letter
  bool integer_ph_ = false;
  bool hostname_ = false;
  bool hash_is_number_ = false;
  bool args_is_object_ = false;
  unsigned arg_index_ = 0;
};

extern template class EventBuilder<JsonCursor>;
extern template class EventBuilder<CompactCursor>;

}  // namespace dft::read
