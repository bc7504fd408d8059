// SPDX-License-Identifier: MIT
// Lines of the tracer itself: what it says about the trace, and the records that say what a hash stands for.
#include <cstring>

#include "encode/event_encoder.h"
#include "encode/json_text.h"

namespace dft::encode {
namespace {

constexpr std::size_t kRoomForFrame = 256;  // id, tid, ts, dur, ph, their keys, hhash, braces

std::string_view record_name(model::StringKind kind) {
  switch (kind) {
    case model::StringKind::kFile: return model::kFileHash;
    case model::StringKind::kHost: return model::kHostHash;
    case model::StringKind::kString: break;
  }
  return model::kStringHash;
}

char* put_bytes(char* p, std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(p, bytes.data(), bytes.size());
  return p + bytes.size();
}

char* put_raw_hex(char* p, std::string_view bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    *p++ = kHex[byte >> 4];
    *p++ = kHex[byte & 15];
  }
  return p;
}

void finish(base::Buffer& out, const char* end) { out.advance(static_cast<std::size_t>(end - out.end())); }

}  // namespace

// {"name":"..","cat":"dftracer","type":1,"pid":P,"tid":T of the tracer's own records.
char* EventEncoder::put_own_line(char* p, std::string_view name, std::int32_t tid) {
  p = text::put_literal(p, "\"name\":\"");
  p = text::put_escaped(p, name.data(), name.size()).end;
  p = text::put_literal(p, "\",\"cat\":\"dftracer\",\"type\":1,\"pid\":");
  p = text::put_int(p, options_.pid);
  p = text::put_literal(p, ",\"tid\":");
  return text::put_int(p, options_.include_tids ? tid : 0);
}

void EventEncoder::metadata(std::string_view name, std::int32_t tid, std::string_view args_fragment,
                            base::Buffer& out) {
  if (!out.reserve(name.size() * text::kMaxEscapeFactor + args_fragment.size() + kRoomForFrame + text::kSlack)) {
    out.fail();
    return;
  }
  char* p = out.end();
  *p++ = '{';
  p = put_own_line(p, name, tid);
  p = text::put_literal(p, ",\"ph\":4");
  p = put_bytes(p, {args_head_.text, ArgsHead::kSize});
  if (!args_fragment.empty()) *p++ = ',';
  p = put_bytes(p, args_fragment);
  finish(out, text::put_literal(p, "}}\n"));
  count_line(model::Layer::kDftracer);
}

void EventEncoder::life_cycle_event(std::string_view name, std::int32_t tid, std::uint64_t trace_ns,
                                    std::string_view args_fragment, base::Buffer& out) {
  if (!out.reserve(name.size() * text::kMaxEscapeFactor + args_fragment.size() + kRoomForFrame + text::kSlack)) {
    out.fail();
    return;
  }
  const std::uint64_t ts = to_unit(trace_ns);
  char* p = frame_.put_id(out.end());
  *p++ = ',';
  p = put_own_line(p, name, tid);
  p = text::put_literal(p, ",\"ts\":");
  p = text::put_uint(p, ts);
  p = text::put_literal(p, ",\"dur\":0,\"ph\":1");
  p = put_bytes(p, {args_head_.text, ArgsHead::kSize});
  if (!args_fragment.empty()) *p++ = ',';
  p = put_bytes(p, args_fragment);
  finish(out, text::put_literal(p, "}}\n"));
  frame_.advance();
  count_event(model::Layer::kDftracer, ts, ts);
}

base::StringHash EventEncoder::define_string(model::StringKind kind, std::string_view bytes, std::int32_t tid,
                                             base::Buffer& out) {
  const base::StringHash hash = base::string_hash(bytes);
  model::StringDef string{bytes, kind, {}};
  std::memcpy(string.hash, hash.digits, sizeof string.hash);
  if (!strings_.is_defined(kind, hash.digits) && !define(string, options_.include_tids ? tid : 0, out)) out.fail();
  return hash;
}

bool EventEncoder::define_strings_of(const model::RecordHeader& record, std::int32_t tid, base::Buffer& out) {
  model::ArgCursor cursor;
  if (!model::open_args(record, definitions_, cursor) || !args_are_consistent(cursor, strings_)) return false;
  for (model::ArgView arg; cursor.next(arg);) {
    if (arg.type != model::ArgType::kHash || arg.bits() == 0) continue;
    model::StringDef string;
    if (!strings_.lookup(static_cast<model::StringId>(arg.bits()), string)) return false;
    if (!strings_.is_defined(string.kind, string.hash) && !define(string, tid, out)) return false;
  }
  return true;
}

bool EventEncoder::define(const model::StringDef& string, std::int32_t tid, base::Buffer& out) {
  // Each byte may need six in `name` and two in `raw_hex`.
  const std::size_t room = text::escaped_bound(string.bytes.data(), string.bytes.size()) + 2 * string.bytes.size();
  if (!out.reserve(room + kRoomForFrame + text::kSlack) || !strings_.set_defined(string.kind, string.hash)) {
    return false;
  }
  char* p = out.end();
  *p++ = '{';
  p = put_own_line(p, record_name(string.kind), tid);
  p = text::put_literal(p, ",\"ph\":4");
  p = put_bytes(p, {args_head_.text, ArgsHead::kSize});
  p = text::put_literal(p, ",\"name\":\"");
  const text::Escaped name = text::put_escaped(p, string.bytes.data(), string.bytes.size());
  p = text::put_literal(name.end, "\",\"value\":\"");
  p = put_bytes(p, {string.hash, sizeof string.hash});
  *p++ = '"';
  if (!name.valid) {
    p = text::put_literal(p, ",\"raw_hex\":\"");
    p = put_raw_hex(p, string.bytes);
    *p++ = '"';
  }
  finish(out, text::put_literal(p, "}}\n"));
  count_line(model::Layer::kDftracer);
  return true;
}

}  // namespace dft::encode
