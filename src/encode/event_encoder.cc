// SPDX-License-Identifier: MIT
#include "encode/event_encoder.h"

#include <cstring>

#include "encode/json_text.h"
#include "encode/utf8.h"

namespace dft::encode {
namespace {

constexpr std::size_t kRoomForFrame = 256;  // id, tid, ts, dur, ph, their keys, hhash, braces

char* put_bytes(char* p, std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(p, bytes.data(), bytes.size());
  return p + bytes.size();
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
      schemas_(definitions, strings_),
      definitions_(definitions),
      frame_(options.first_id) {
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
    if (__builtin_expect(schema == nullptr, 0)) {
      return schemas_.lacks_definition() ? ArgsOutcome::kNeedsDefinitions : ArgsOutcome::kInconsistent;
    }
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
  reversed_ += record.end < record.begin;
  return finish_event(text::put_literal(p, "}\n"), site.layer, times, out);
}

[[gnu::always_inline]] inline ArgsOutcome EventEncoder::finish_event(char* end, model::Layer layer,
                                                                     const Interval& times, base::Buffer& out) {
  finish(out, end);
  frame_.advance();
  count_event(layer, times.ts, times.ts + times.dur);
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
  p = frame_.put_id(p);
  if (__builtin_expect(site.tid == tid, 1)) {
    p = text::PlainCopy::put(p, sites_.text(site), site.size_with_tid);
  } else {
    if (site.tid < 0) sites_.add_tid(site, tid);
    p = text::PlainCopy::put(p, sites_.text(site), site.size);
    p = tid_text_.put(p, tid);
  }
  return text::put_literal(put_times(p, times), ",\"ph\":1");
}

[[gnu::always_inline]] inline char* EventEncoder::put_times(char* p, const Interval& times) {
  p = time_text_.put(p, times.ts);
  p = text::put_seven(p, ",\"dur\":");
  return text::put_uint(p, times.dur);
}

char* EventEncoder::put_counter(char* p, const SitePrefix& site, std::int32_t tid, std::uint64_t ts) {
  const char* prefix = sites_.text(site);
  *p++ = '{';
  p = text::PlainCopy::put(p, prefix + 1, site.type_end - 1);  // without its comma
  p = text::put_literal(p, ",\"ts\":");
  p = text::put_uint(p, ts);
  p = text::put_literal(p, ",\"ph\":2");
  p = text::PlainCopy::put(p, prefix + site.type_end, site.size - site.type_end);
  return text::put_int(p, tid);
}

char* EventEncoder::put_metadata(char* p, const SitePrefix& site, std::int32_t tid) {
  const char* prefix = sites_.text(site);
  *p++ = '{';
  p = text::PlainCopy::put(p, prefix + 1, site.name_end - 1);
  p = text::put_literal(p, ",\"cat\":\"dftracer\",\"type\":");
  p = text::put_uint(p, static_cast<std::uint64_t>(site.layer));
  p = text::PlainCopy::put(p, prefix + site.type_end, site.size - site.type_end);
  p = text::put_int(p, tid);
  return text::put_literal(p, ",\"ph\":4");
}

void EventEncoder::forget_defined_strings() {
  strings_.clear();
  schemas_.clear();
  lines_.clear();
}

void EventEncoder::forget() {
  sites_.forget();
  strings_.forget();
  schemas_.forget();
  lines_.forget();
}

inline EventEncoder::Interval EventEncoder::interval_of(const model::RecordHeader& record) const {
  const bool is_point = record.end < record.begin || (record.flags & model::kFlagInstant) != 0;
  return to_units(record.begin, is_point ? record.begin : record.end, record.flags);
}

[[gnu::always_inline]] inline EventEncoder::Interval EventEncoder::to_units(std::uint64_t begin, std::uint64_t end,
                                                                            std::uint8_t flags) const {
  if (__builtin_expect((flags & model::kFlagNanoseconds) == 0, 1)) {
    begin = clock_.to_ns(begin);
    end = clock_.to_ns(end);
  }
  if (__builtin_expect(options_.time_metric == model::TimeMetric::kUs, 1)) {
    const std::uint64_t ts = begin / 1'000;
    return {ts, end / 1'000 - ts};
  }
  const std::uint64_t ts = to_unit(begin);
  return {ts, to_unit(end) - ts};
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

}  // namespace dft::encode
