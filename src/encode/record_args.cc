// SPDX-License-Identifier: MIT
#include "encode/record_args.h"

#include <cstring>

#include "encode/arg_keys.h"
#include "encode/json_check.h"
#include "encode/json_text.h"

namespace dft::encode {
namespace {

using model::ArgType;
using model::ArgView;
using model::RecordHeader;

const char* args_begin(const RecordHeader& record) { return reinterpret_cast<const char*>(&record + 1); }
const char* args_end(const RecordHeader& record) { return reinterpret_cast<const char*>(&record) + record.size; }
const char* end_of(const ArgView& arg) { return arg.value + model::padded8(arg.value_len); }

constexpr unsigned bit_of(ArgType type) { return 1u << static_cast<unsigned>(type); }
constexpr unsigned kOfNoText = bit_of(ArgType::kDropped) | bit_of(ArgType::kRelation);
constexpr unsigned kOfAnyLength = bit_of(ArgType::kString) | bit_of(ArgType::kJson) | bit_of(ArgType::kDropped);

bool has_no_text(const ArgView& arg) { return (kOfNoText & bit_of(arg.type)) != 0; }
bool is_absent(const ArgView& arg) { return arg.type == ArgType::kHash && arg.bits() == 0; }  // no string
bool has_sane_length(const ArgView& arg) { return arg.value_len == 8 || (kOfAnyLength & bit_of(arg.type)) != 0; }

bool ends_right(const RecordHeader& record, const char* at, unsigned count) {
  return at == args_end(record) && count == record.arg_count;
}

char* put_flags(char* p, std::uint8_t flags) {
  if (flags & model::kFlagInstant) p = text::put_literal(p, ",\"instant\":1");
  if (flags & model::kFlagOpenAtEnd) p = text::put_literal(p, ",\"open_at_end\":1");
  return p;
}

char* put_string(char* p, const ArgView& arg) {
  *p++ = '"';
  p = text::put_escaped_padded(p, arg.value, arg.value_len).end;
  *p++ = '"';
  return p;
}

char* put_hash(char* p, const char* digits) {
  *p++ = '"';
  std::memcpy(p, digits, 16);
  p += 16;
  *p++ = '"';
  return p;
}

bool same_key(const ArgView& a, const ArgView& b) {
  return a.key_len == b.key_len && std::memcmp(a.key, b.key, a.key_len) == 0;
}

// The first relation arg of this name has the whole array; later ones find an earlier one and write nothing.
bool is_first_of_its_name(const RecordHeader& record, const ArgView& relation) {
  model::ArgCursor cursor(record);
  for (ArgView earlier; cursor.next(earlier) && earlier.key != relation.key;) {
    if (earlier.type == ArgType::kRelation && same_key(earlier, relation)) return false;
  }
  return true;
}

char* put_relations(char* p, const RecordHeader& record) {
  p = text::put_literal(p, ",\"relations\":{");
  model::ArgCursor cursor(record);
  bool first_name = true;
  for (ArgView arg; cursor.next(arg);) {
    if (arg.type != ArgType::kRelation || !is_first_of_its_name(record, arg)) continue;
    if (!first_name) *p++ = ',';
    first_name = false;
    *p++ = '"';
    p = text::put_escaped_padded(p, arg.key, arg.key_len).end;
    p = text::put_literal(p, "\":[");
    model::ArgCursor rest(arg.key - sizeof(model::ArgHeader),
                          static_cast<std::size_t>(args_end(record) - (arg.key - sizeof(model::ArgHeader))));
    bool first = true;
    for (ArgView entity; rest.next(entity);) {
      if (entity.type != ArgType::kRelation || !same_key(entity, arg)) continue;
      if (!first) *p++ = ',';
      first = false;
      *p++ = '"';
      p = text::put_hex16(p, entity.bits());
      *p++ = '"';
    }
    *p++ = ']';
  }
  *p++ = '}';
  return p;
}

// Value of an arg behind its key.
ArgsText put_value(char* p, const ArgView& arg, StringCache& strings) {
  switch (arg.type) {
    case ArgType::kInt64: p = text::put_int(p, static_cast<std::int64_t>(arg.bits())); break;
    case ArgType::kUint64: p = text::put_uint(p, arg.bits()); break;
    case ArgType::kDouble: {
      double value;
      std::memcpy(&value, arg.value, sizeof value);
      p = text::put_double(p, value);
      break;
    }
    case ArgType::kBool: *p++ = arg.bits() != 0 ? '1' : '0'; break;
    case ArgType::kString: p = put_string(p, arg); break;
    case ArgType::kHash: {
      const char* digits = arg.bits() >> 32 == 0 ? strings.find(static_cast<model::StringId>(arg.bits())) : nullptr;
      if (digits == nullptr) return {p, ArgsOutcome::kNeedsDefinitions};
      p = put_hash(p, digits);
      break;
    }
    case ArgType::kJson:
      if (!is_json({arg.value, arg.value_len})) return {p, ArgsOutcome::kInconsistent};
      std::memcpy(p, arg.value, arg.value_len);
      p += arg.value_len;
      break;
    case ArgType::kRelation:
    case ArgType::kDropped: break;
  }
  return {p, ArgsOutcome::kWritten};
}

// Walks the args of a record of a size divisible by 8.
class ArgWalk {
 public:
  explicit ArgWalk(const RecordHeader& record) : at_(args_begin(record)), left_(record.size - sizeof(RecordHeader)) {}
  bool at_end() const { return left_ == 0; }
  const char* at() const { return at_; }
  std::size_t left() const { return left_; }

  // False when the args are inconsistent.
  bool next(ArgView& out) { return model::ArgCursor(at_, left_).next(out) && pass(out); }

  // The same when the key is known to be one word and the type to be one.
  bool next_known(ArgView& out) {
    model::ArgHeader header;
    std::memcpy(&header, at_, sizeof header);
    const char* const key = at_ + sizeof header;
    out = {header.type, key, header.key_len, key + 8, header.value_len};
    return pass(out);
  }

 private:
  bool pass(const ArgView& arg) {
    const auto size = static_cast<std::size_t>(end_of(arg) - at_);
    if (size > left_ || !has_sane_length(arg)) return false;
    at_ += size;
    left_ -= size;
    return true;
  }
  const char* at_;
  std::size_t left_;
};

ArgsText put_values(char* p, const RecordHeader& record, ArgsTexts texts, bool& relations) {
  const unsigned arg_count = record.arg_count;  // for which the room was computed
  unsigned number = 0;
  ArgWalk walk(record);
  for (; !walk.at_end(); ++number) {
    if (__builtin_expect(number == arg_count, 0)) return {p, ArgsOutcome::kInconsistent};
    ArgView arg;
    const char* const at = walk.at();
    const KeyTexts::Known* const known = texts.keys.find(at, walk.left());
    if (__builtin_expect(known != nullptr, 1)) {
      if (__builtin_expect(!walk.next_known(arg), 0)) return {p, ArgsOutcome::kInconsistent};
      if (is_absent(arg)) continue;
      p = known->put(p);
    } else {
      if (!walk.next(arg)) return {p, ArgsOutcome::kInconsistent};
      relations |= arg.type == ArgType::kRelation;
      if (has_no_text(arg) || is_absent(arg)) continue;
      p = texts.keys.put_unknown(p, record, at, number);
    }
    const ArgsText value = put_value(p, arg, texts.strings);
    if (__builtin_expect(value.outcome != ArgsOutcome::kWritten, 0)) return value;
    p = value.end;
  }
  return {p, number == arg_count ? ArgsOutcome::kWritten : ArgsOutcome::kInconsistent};
}

// Checks the args of which only relations are written.
ArgsOutcome pass_over(const RecordHeader& record, bool& relations) {
  unsigned number = 0;
  ArgWalk walk(record);
  for (ArgView arg; !walk.at_end(); ++number) {
    if (!walk.next(arg)) return ArgsOutcome::kInconsistent;
    relations |= arg.type == ArgType::kRelation;
  }
  return number == record.arg_count ? ArgsOutcome::kWritten : ArgsOutcome::kInconsistent;
}

}  // namespace

std::size_t large_texts_room(const RecordHeader& record) {
  return text::escaped_bound(args_begin(record), record.size - sizeof(RecordHeader));
}

bool args_are_consistent(const RecordHeader& record, const StringCache& strings) {
  const char* at = args_begin(record);
  unsigned count = 0;
  model::ArgCursor cursor(record);
  for (ArgView arg; cursor.next(arg); at = end_of(arg), ++count) {
    if (!has_sane_length(arg)) return false;
    if (arg.type == ArgType::kJson && !is_json({arg.value, arg.value_len})) return false;
    model::StringDef string;
    if (arg.type == ArgType::kHash && arg.bits() != 0 &&
        (arg.bits() >> 32 != 0 || !strings.lookup(static_cast<model::StringId>(arg.bits()), string))) {
      return false;
    }
  }
  return ends_right(record, at, count);
}

ArgsText put_args(char* p, const RecordHeader& record, ArgsTexts texts, const ArgsRules& rules) {
  char* const begin = p;
  std::memcpy(p, rules.head.text, sizeof rules.head.text);
  p += ArgsHead::kSize;
  char* const after_head = p;
  ArgsText values;
  bool relations = false;
  if (__builtin_expect(rules.values, 1)) {
    if (__builtin_expect(record.flags & (model::kFlagInstant | model::kFlagOpenAtEnd), 0)) {
      p = put_flags(p, record.flags);
    }
    values = put_values(p, record, texts, relations);
  } else {
    values = {p, pass_over(record, relations)};
  }
  if (__builtin_expect(values.outcome != ArgsOutcome::kWritten, 0)) return values;
  p = values.end;
  if (relations) p = put_relations(p, record);
  if (p == after_head && !rules.always) return {begin, ArgsOutcome::kWritten};
  *p++ = '}';
  return {p, ArgsOutcome::kWritten};
}

}  // namespace dft::encode
