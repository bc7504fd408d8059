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

constexpr unsigned bit_of(ArgType type) { return 1u << static_cast<unsigned>(type); }
constexpr unsigned kOfNoText = bit_of(ArgType::kDropped) | bit_of(ArgType::kRelation);
constexpr unsigned kOfAnyLength = bit_of(ArgType::kString) | bit_of(ArgType::kJson) | bit_of(ArgType::kDropped);

bool has_no_text(const ArgView& arg) { return (kOfNoText & bit_of(arg.type)) != 0; }
bool is_absent(const ArgView& arg) { return arg.type == ArgType::kHash && arg.bits() == 0; }  // no string
bool has_sane_length(const ArgView& arg) { return arg.value_len == 8 || (kOfAnyLength & bit_of(arg.type)) != 0; }

model::ArgCursor self_describing(const RecordHeader& record) {
  return {model::args_begin(record), model::args_bytes(record)};
}

char* put_flags(char* p, std::uint8_t flags) {
  if (flags & model::kFlagInstant) p = text::put_literal(p, ",\"instant\":1");
  if (flags & model::kFlagOpenAtEnd) p = text::put_literal(p, ",\"open_at_end\":1");
  return p;
}

[[gnu::always_inline]] inline char* put_string(char* p, const ArgView& arg) {
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
  model::ArgCursor cursor = self_describing(record);
  for (ArgView earlier; cursor.next(earlier) && earlier.key != relation.key;) {
    if (earlier.type == ArgType::kRelation && same_key(earlier, relation)) return false;
  }
  return true;
}

char* put_relations(char* p, const RecordHeader& record) {
  p = text::put_literal(p, ",\"relations\":{");
  model::ArgCursor cursor = self_describing(record);
  bool first_name = true;
  for (ArgView arg; cursor.next(arg);) {
    if (arg.type != ArgType::kRelation || !is_first_of_its_name(record, arg)) continue;
    if (!first_name) *p++ = ',';
    first_name = false;
    *p++ = '"';
    p = text::put_escaped_padded(p, arg.key, arg.key_len).end;
    p = text::put_literal(p, "\":[");
    const char* const here = arg.key - sizeof(model::ArgHeader);
    const char* const end = model::args_begin(record) + model::args_bytes(record);
    model::ArgCursor rest(here, static_cast<std::size_t>(end - here));
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
[[gnu::always_inline]] inline ArgsText put_value(char* p, const ArgView& arg, StringCache& strings) {
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

[[gnu::noinline]] ArgsText put_self_describing(char* p, const RecordHeader& record, StringCache& strings,
                                               bool& relations) {
  unsigned number = 0;
  model::ArgCursor cursor = self_describing(record);
  for (ArgView arg; cursor.next(arg); ++number) {
    if (!has_sane_length(arg)) return {p, ArgsOutcome::kInconsistent};
    relations |= arg.type == ArgType::kRelation;
    if (has_no_text(arg) || is_absent(arg)) continue;
    const ArgsText value = put_value(put_key(p, record, arg, number), arg, strings);
    if (__builtin_expect(value.outcome != ArgsOutcome::kWritten, 0)) return value;
    p = value.end;
  }
  return {p, cursor.at_end() ? ArgsOutcome::kWritten : ArgsOutcome::kInconsistent};
}

// One value of a record with a schema, taken from `at`. False when it reaches beyond the record.
inline bool take_value(const char*& at, std::size_t& left, ArgType type, ArgView& arg) {
  if (__builtin_expect(left < 8, 0)) return false;
  arg.type = type;
  arg.value = at;
  arg.value_len = 8;
  at += 8;
  left -= 8;
  if (!model::is_text(type)) return true;
  arg.value_len = arg.bits();
  const std::size_t padded = model::padded8(arg.value_len);
  if (__builtin_expect(arg.value_len > left || padded > left, 0)) return false;
  arg.value = at;
  at += padded;
  left -= padded;
  return true;
}

inline ArgsText put_by_schema(char* p, const RecordHeader& record, const SchemaText& schema, StringCache& strings) {
  const char* at = model::args_begin(record);
  std::size_t left = model::args_bytes(record);
  const FieldText* field = schema.first();
  for (unsigned i = 0; i < schema.fields; ++i, field = field->next()) {
    ArgView arg;
    if (__builtin_expect(!take_value(at, left, field->type, arg), 0)) return {p, ArgsOutcome::kInconsistent};
    if (__builtin_expect(is_absent(arg), 0)) continue;
    const ArgsText value = put_value(field->put(p), arg, strings);
    if (__builtin_expect(value.outcome != ArgsOutcome::kWritten, 0)) return value;
    p = value.end;
  }
  if (schema.has_constants) p = field->put(p);  // behind the last field
  return {p, left == 0 ? ArgsOutcome::kWritten : ArgsOutcome::kInconsistent};
}

// Checks args of which only relations are written.
ArgsOutcome pass_over(model::ArgCursor cursor, bool& relations) {
  for (ArgView arg; cursor.next(arg);) {
    if (!has_sane_length(arg)) return ArgsOutcome::kInconsistent;
    relations |= arg.type == ArgType::kRelation;
  }
  return cursor.at_end() ? ArgsOutcome::kWritten : ArgsOutcome::kInconsistent;
}

inline ArgsText put_values(char* p, const RecordHeader& record, const SchemaText* schema, StringCache& strings,
                           bool& relations) {
  if (__builtin_expect(schema != nullptr, 1)) return put_by_schema(p, record, *schema, strings);
  if (record.schema == model::kSelfDescribing) return put_self_describing(p, record, strings, relations);
  return {p, model::args_bytes(record) == 0 ? ArgsOutcome::kWritten : ArgsOutcome::kInconsistent};
}

}  // namespace

std::size_t large_texts_room(const RecordHeader& record, unsigned fields) {
  constexpr std::size_t kRoomPerArg = 64;  // comma, quotes, colon, number, suffix of its key
  std::size_t args = fields;
  if (record.schema == model::kSelfDescribing) {
    model::ArgCursor cursor = self_describing(record);
    for (ArgView arg; cursor.next(arg);) ++args;
  }
  return text::escaped_bound(model::args_begin(record), model::args_bytes(record)) + args * kRoomPerArg;
}

bool args_are_consistent(model::ArgCursor cursor, const StringCache& strings) {
  for (ArgView arg; cursor.next(arg);) {
    if (!has_sane_length(arg)) return false;
    if (arg.type == ArgType::kJson && !is_json({arg.value, arg.value_len})) return false;
    model::StringDef string;
    if (arg.type == ArgType::kHash && arg.bits() != 0 &&
        (arg.bits() >> 32 != 0 || !strings.lookup(static_cast<model::StringId>(arg.bits()), string))) {
      return false;
    }
  }
  return cursor.at_end();
}

ArgsText put_args(char* p, const RecordHeader& record, const SchemaText* schema, StringCache& strings,
                  const ArgsRules& rules) {
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
    values = put_values(p, record, schema, strings, relations);
  } else if (record.schema == model::kSelfDescribing) {
    values = {p, pass_over(self_describing(record), relations)};
  } else {
    values = {p, ArgsOutcome::kWritten};
  }
  if (__builtin_expect(values.outcome != ArgsOutcome::kWritten, 0)) return values;
  p = values.end;
  if (relations) p = put_relations(p, record);
  if (p == after_head && !rules.always) return {begin, ArgsOutcome::kWritten};
  *p++ = '}';
  return {p, ArgsOutcome::kWritten};
}

}  // namespace dft::encode
