// SPDX-License-Identifier: MIT
#include "encode/event_encoder.h"

#include <cstring>

#include "encode/json_text.h"
#include "encode/utf8.h"

namespace dft::encode {
namespace {

constexpr std::int32_t kFirstLane = 1 << 30;  // tids from here on are lanes of the tracer, not kernel threads
constexpr std::size_t kRoomForFrame = 256;    // id, tid, ts, dur, ph, their keys, hhash, braces

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

bool has_sane_size(const model::RecordHeader& record) { return record.size >= sizeof record && record.size % 8 == 0; }

// False for most events without args, whose args object is left out.
bool has_args(const model::RecordHeader& record) {
  return record.size != sizeof record || record.schema != model::kNoArgs ||
         (record.flags & (model::kFlagInstant | model::kFlagOpenAtEnd)) != 0;
}

}  // namespace

EventEncoder::EventEncoder(const model::Definitions& definitions, const base::ClockMap& clock,
                           const EncoderOptions& options)
    : clock_(clock),
      options_(options),
      sites_(definitions, options.pid),
      strings_(definitions),
      schemas_(definitions),
      definitions_(definitions),
      id_text_(options.first_id) {
  char* p = text::put_literal(args_head_.text, ",\"args\":{\"hhash\":\"");
  p = put_bytes(p, is_hash_text(options.host_hash) ? std::string_view(options.host_hash, 16) : "0000000000000000");
  *p = '"';
}

bool EventEncoder::encode_any(const model::RecordHeader& record, std::int32_t chunk_tid, base::Buffer& out) {
  if (!has_sane_size(record)) return false;
  const SitePrefix* site = sites_.find(record.site);
  if (site == nullptr) return false;
  const std::int32_t tid = tid_of(record, chunk_tid);
  const ArgsOutcome outcome = write_record(record, *site, tid, out);
  if (__builtin_expect(outcome == ArgsOutcome::kWritten, 1)) return true;
  return outcome == ArgsOutcome::kNeedsDefinitions && write_with_definitions(record, *site, tid, out);
}

// GPU work: many args of which few change. A function of its own, so that it weighs on no other event.
bool EventEncoder::encode_steady(const model::RecordHeader& record, std::int32_t chunk_tid, base::Buffer& out) {
  if (!has_sane_size(record)) return false;
  const SteadyArgs::LineEnd* line_end = steady_.find(record);
  const SitePrefix* site = sites_.find(record.site);
  if (__builtin_expect(line_end == nullptr || site == nullptr, 0)) return learn_steady(record, chunk_tid, out);
  if (!out.reserve(site->size + kRoomForFrame + line_end->room() + text::kSlack)) return false;
  const Interval times = interval_of(record);
  char* const p = put_times(out.end(), *site, tid_of(record, chunk_tid), times);
  return finish_event(line_end->put(p, record), *site, times, out) == ArgsOutcome::kWritten;
}

[[gnu::noinline]] bool EventEncoder::learn_steady(const model::RecordHeader& record, std::int32_t chunk_tid,
                                                  base::Buffer& out) {
  if (!encode_any(record, chunk_tid, out)) return false;
  const SchemaText* schema = options_.metadata ? schemas_.find(record.schema) : nullptr;
  if (schema != nullptr) steady_.learn(record, *schema, strings_, args_head_);
  return true;
}

bool EventEncoder::write_with_definitions(const model::RecordHeader& record, const SitePrefix& site, std::int32_t tid,
                                          base::Buffer& out) {
  const std::size_t begin = out.size();
  const BlockStats before = stats_;
  if (define_strings_of(record, tid, out) && write_record(record, site, tid, out) == ArgsOutcome::kWritten) return true;
  out.resize_down(begin);
  stats_ = before;
  forget_defined_strings();  // some may have been among the lines taken back
  return false;
}

ArgsOutcome EventEncoder::write_record(const model::RecordHeader& record, const SitePrefix& site, std::int32_t tid,
                                       base::Buffer& out) {
  const SchemaText* schema = nullptr;
  if (record.schema != model::kNoArgs && record.schema != model::kSelfDescribing) {
    schema = schemas_.find(record.schema);
    if (__builtin_expect(schema == nullptr, 0)) return ArgsOutcome::kInconsistent;
  }
  const std::size_t room = args_room(record, schema) + site.size + kRoomForFrame + text::kSlack;
  if (!out.reserve(room)) return ArgsOutcome::kInconsistent;
  switch (record.kind) {
    case model::RecordKind::kEvent: return write_event(record, site, schema, tid, out);
    case model::RecordKind::kCounter: return write_counter(record, site, schema, tid, out);
    case model::RecordKind::kMetadata: return write_metadata(record, site, schema, tid, out);
  }
  return ArgsOutcome::kInconsistent;
}

inline ArgsOutcome EventEncoder::write_event(const model::RecordHeader& record, const SitePrefix& site,
                                             const SchemaText* schema, std::int32_t tid, base::Buffer& out) {
  const Interval times = interval_of(record);
  char* p = put_complete(out.end(), site, tid, times);
  if (has_args(record)) {
    // A call without args still says on which host it was made.
    const bool only_host = record.schema == model::kSelfDescribing && record.size == sizeof record;
    const ArgsText args =
        put_args(p, record, schema, strings_, {args_head_, options_.metadata, options_.metadata && only_host});
    if (__builtin_expect(args.outcome != ArgsOutcome::kWritten, 0)) return args.outcome;
    p = args.end;
  }
  return finish_event(text::put_literal(p, "}\n"), site, times, out);
}

[[gnu::always_inline]] inline ArgsOutcome EventEncoder::finish_event(char* end, const SitePrefix& site,
                                                                     const Interval& times, base::Buffer& out) {
  finish(out, end);
  count_line(site.layer);
  id_text_.advance();
  reversed_ += times.reversed;
  count_event(site.layer, times.ts, times.ts + times.dur);
  return ArgsOutcome::kWritten;
}

ArgsOutcome EventEncoder::write_counter(const model::RecordHeader& record, const SitePrefix& site,
                                        const SchemaText* schema, std::int32_t tid, base::Buffer& out) {
  const std::uint64_t ts = interval_of(record).ts;
  char* p = put_counter(out.end(), site, tid, ts);
  if (has_args(record)) {
    const ArgsText args = put_args(p, record, schema, strings_, {args_head_, true, false});
    if (args.outcome != ArgsOutcome::kWritten) return args.outcome;
    p = args.end;
  }
  finish(out, text::put_literal(p, "}\n"));
  count_line(site.layer);
  count_event(site.layer, ts, ts);
  return ArgsOutcome::kWritten;
}

ArgsOutcome EventEncoder::write_metadata(const model::RecordHeader& record, const SitePrefix& site,
                                         const SchemaText* schema, std::int32_t tid, base::Buffer& out) {
  char* const p = put_metadata(out.end(), site, tid);
  const ArgsText args = put_args(p, record, schema, strings_, {args_head_, true, true});
  if (args.outcome != ArgsOutcome::kWritten) return args.outcome;
  finish(out, text::put_literal(args.end, "}\n"));
  count_line(site.layer);
  return ArgsOutcome::kWritten;
}

inline char* EventEncoder::put_complete(char* p, const SitePrefix& site, std::int32_t tid, const Interval& times) {
  return text::put_literal(put_times(p, site, tid, times), ",\"ph\":1");
}

// The line up to its dur.
inline char* EventEncoder::put_times(char* p, const SitePrefix& site, std::int32_t tid, const Interval& times) {
  p = id_text_.put(p);
  p = text::put_padded(p, sites_.text(site), site.size);
  p = tid_text_.put(p, tid);
  p = time_text_.put(p, times.ts);
  p = text::put_literal(p, ",\"dur\":");
  return text::put_uint(p, times.dur);
}

char* EventEncoder::put_counter(char* p, const SitePrefix& site, std::int32_t tid, std::uint64_t ts) {
  const char* prefix = sites_.text(site);
  *p++ = '{';
  p = text::put_padded(p, prefix + 1, site.type_end - 1);  // without its comma
  p = text::put_literal(p, ",\"ts\":");
  p = text::put_uint(p, ts);
  p = text::put_literal(p, ",\"ph\":2");
  p = text::put_padded(p, prefix + site.type_end, site.size - site.type_end);
  return text::put_int(p, tid);
}

char* EventEncoder::put_metadata(char* p, const SitePrefix& site, std::int32_t tid) {
  const char* prefix = sites_.text(site);
  *p++ = '{';
  p = text::put_padded(p, prefix + 1, site.name_end - 1);
  p = text::put_literal(p, ",\"cat\":\"dftracer\",\"type\":");
  p = text::put_uint(p, static_cast<std::uint64_t>(site.layer));
  p = text::put_padded(p, prefix + site.type_end, site.size - site.type_end);
  p = text::put_int(p, tid);
  return text::put_literal(p, ",\"ph\":4");
}

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
  char* p = id_text_.put(out.end());
  *p++ = ',';
  p = put_own_line(p, name, tid);
  p = text::put_literal(p, ",\"ts\":");
  p = text::put_uint(p, ts);
  p = text::put_literal(p, ",\"dur\":0,\"ph\":1");
  p = put_bytes(p, {args_head_.text, ArgsHead::kSize});
  if (!args_fragment.empty()) *p++ = ',';
  p = put_bytes(p, args_fragment);
  finish(out, text::put_literal(p, "}}\n"));
  id_text_.advance();
  count_line(model::Layer::kDftracer);
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

void EventEncoder::forget_defined_strings() {
  strings_.clear();
  steady_.clear();
}

void EventEncoder::forget() {
  sites_.forget();
  strings_.forget();
  schemas_.forget();
  steady_.forget();
}

inline EventEncoder::Interval EventEncoder::interval_of(const model::RecordHeader& record) const {
  std::uint64_t begin = record.begin;
  std::uint64_t end = record.end;
  const bool reversed = end < begin;
  if (reversed || (record.flags & model::kFlagInstant) != 0) end = begin;
  if (__builtin_expect((record.flags & model::kFlagNanoseconds) == 0, 1)) {
    begin = clock_.to_ns(begin);
    end = clock_.to_ns(end);
  }
  if (__builtin_expect(options_.time_metric == model::TimeMetric::kUs, 1)) {
    const std::uint64_t ts = begin / 1'000;
    return {ts, end / 1'000 - ts, reversed};
  }
  const std::uint64_t ts = to_unit(begin);
  return {ts, to_unit(end) - ts, reversed};
}

std::uint64_t EventEncoder::to_unit(std::uint64_t ns) const {
  // Constant divisors: a multiplication each.
  switch (options_.time_metric) {
    case model::TimeMetric::kNs: return ns;
    case model::TimeMetric::kMs: return ns / 1'000'000;
    case model::TimeMetric::kSec: return ns / 1'000'000'000;
    case model::TimeMetric::kUs: break;
  }
  return ns / 1'000;
}

inline std::int32_t EventEncoder::tid_of(const model::RecordHeader& record, std::int32_t chunk_tid) const {
  const std::int32_t tid = record.lane != 0 ? static_cast<std::int32_t>(record.lane) : chunk_tid;
  return options_.include_tids || tid >= kFirstLane ? tid : 0;
}

inline void EventEncoder::count_line(model::Layer layer) {
  ++stats_.lines;
  stats_.layers |= std::uint32_t{1} << (static_cast<unsigned>(layer) & 31);
}

inline void EventEncoder::count_event(model::Layer layer, std::uint64_t ts, std::uint64_t end) {
  ++stats_.events;
  if (ts < stats_.ts_min) stats_.ts_min = ts;
  if (end > stats_.ts_max) stats_.ts_max = end;
  used_layers_ |= std::uint32_t{1} << (static_cast<unsigned>(layer) & 31);
}

}  // namespace dft::encode
