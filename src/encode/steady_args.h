// SPDX-License-Identifier: MIT
// Purpose: the args of call sites with many fields of which few change from one record to the next (GPU work, marked by
//          kFlagSteady): what stays the same is rendered once, with the keys of what changes between.
// Threads: one owner.
// Invariants: a text is used only for a record whose steady values are all equal to those it was made from; hashes in
//             it are defined in the file, so it must be cleared together with the strings (StringCache).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "encode/record_args.h"
#include "encode/schema_texts.h"
#include "encode/string_cache.h"
#include "model/record.h"

namespace dft::encode {

class SteadyArgs {
 public:
  // The end of one event's line, behind its dur: ,"ph":1,"args":{..}} and the line feed.
  class LineEnd {
   public:
    // REQUIRES: room() + text::kSlack bytes.
    char* put(char* p, const model::RecordHeader& record) const;
    std::size_t room() const { return room_; }

   private:
    friend class SteadyArgs;
    static constexpr std::size_t kTextSize = 1024;
    enum class State : std::uint8_t { kEmpty, kSeen, kReady, kRefused };
    struct Part {  // a text, and the field whose value follows it
      std::uint16_t offset;
      std::uint16_t size;
      std::uint16_t field;
      bool is_signed;
    };
    bool is_for(const model::RecordHeader& record) const;
    bool has_same_steady_values(const model::RecordHeader& record) const;
    bool render(const SchemaText& schema, StringCache& strings, const ArgsHead& args_head);
    char* put_field(char* p, const FieldText& field, unsigned number, StringCache& strings);
    std::uint64_t* known() { return known_ + front_; }
    std::uint64_t* steady() { return steady_ + front_; }

    std::uint64_t first_word_;  // of its records: size, kind, flags, schema
    model::SiteId site_;
    State state_;
    std::uint8_t parts_;
    std::uint8_t fields_;
    std::uint8_t front_;  // words in front of the values
    std::uint16_t room_;
    std::uint16_t tail_offset_, tail_size_;  // text behind the last value
    // Values of the last rendered record, and all ones for those that never changed. Compared in fours: in front of the
    // values are as many words of the header as make up the first four, which do not count.
    static constexpr unsigned kAtOnce = 4;
    static_assert(kAtOnce * sizeof(std::uint64_t) <= sizeof(model::RecordHeader));
    alignas(16) std::uint64_t known_[model::kMaxFields + kAtOnce];
    alignas(16) std::uint64_t steady_[model::kMaxFields + kAtOnce];
    Part part_[model::kMaxFields];
    char text_[kTextSize + text::kReadAhead];
  };

  // Null when it is not known, or the steady values are others: then the line is written in the general way and its
  // record given to learn(). Valid until the next call of learn() or clear().
  const LineEnd* find(const model::RecordHeader& record) const {
    if (__builtin_expect(slots_.empty(), 0)) return nullptr;
    const LineEnd& slot = slot_of(record);
    if (__builtin_expect(slot.state_ != LineEnd::State::kReady || !slot.is_for(record), 0)) return nullptr;
    return __builtin_expect(slot.has_same_steady_values(record), 1) ? &slot : nullptr;
  }
  // REQUIRES: the record was written, so it fits its schema and its hashes are defined.
  void learn(const model::RecordHeader& record, const SchemaText& schema, StringCache& strings,
             const ArgsHead& args_head);

  void clear();
  void forget() { slots_.forget(); }  // fork child: without unmapping

 private:
  static constexpr std::size_t kSlots = 512;

  LineEnd& slot_of(const model::RecordHeader& record) const {
    const std::size_t at = (record.site ^ std::size_t{record.schema} * 37) & (kSlots - 1);
    return reinterpret_cast<LineEnd*>(const_cast<char*>(slots_.data()))[at];
  }
  bool prepare();
  static void take(LineEnd& slot, const model::RecordHeader& record, const SchemaText& schema);

  base::Buffer slots_;
};

inline bool SteadyArgs::LineEnd::is_for(const model::RecordHeader& record) const {
  std::uint64_t word;
  std::memcpy(&word, &record, sizeof word);
  return word == first_word_ && record.site == site_;
}

inline bool SteadyArgs::LineEnd::has_same_steady_values(const model::RecordHeader& record) const {
  const char* at = model::args_begin(record) - front_ * sizeof(std::uint64_t);
  const unsigned words = front_ + unsigned{fields_};
#if defined(__SSE2__)
  __m128i differs = _mm_setzero_si128();
  const auto compare = [&](unsigned i) {
    const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + i * sizeof(std::uint64_t)));
    const __m128i other = _mm_xor_si128(value, *reinterpret_cast<const __m128i*>(known_ + i));
    differs = _mm_or_si128(differs, _mm_and_si128(other, *reinterpret_cast<const __m128i*>(steady_ + i)));
  };
  for (unsigned i = 0; i < words; i += kAtOnce) compare(i), compare(i + 2);
  return _mm_movemask_epi8(_mm_cmpeq_epi8(differs, _mm_setzero_si128())) == 0xffff;
#else
  std::uint64_t differs = 0;
  for (unsigned i = 0; i < words; ++i, at += sizeof differs) {
    std::uint64_t value;
    std::memcpy(&value, at, sizeof value);
    differs |= (value ^ known_[i]) & steady_[i];
  }
  return differs == 0;
#endif
}

inline char* SteadyArgs::LineEnd::put(char* p, const model::RecordHeader& record) const {
  const char* const values = model::args_begin(record);
  for (const Part* part = part_; part != part_ + parts_; ++part) {
    p = text::put_padded(p, text_ + part->offset, part->size);
    std::uint64_t value;
    std::memcpy(&value, values + part->field * sizeof value, sizeof value);
    if (part->is_signed && static_cast<std::int64_t>(value) < 0) {
      *p++ = '-';
      value = 0 - value;
    }
    p = text::put_uint(p, value);
  }
  const char* const tail = text_ + tail_offset_;
  if (tail_size_ > 16) return text::put_padded(p, tail, tail_size_);
  std::memcpy(p, tail, 16);  // no more than the end of the object, as the last value mostly changes
  return p + tail_size_;
}

}  // namespace dft::encode
