// SPDX-License-Identifier: MIT
// GPU work: records with many args, most of them constants of their schema, whose lines are kept rendered. Many records
// in one go, so that what they share is looked up once; whatever is unusual ends the run and is dealt with by itself.
#include <algorithm>

#include "encode/event_encoder.h"

namespace dft::encode {

[[gnu::always_inline]] inline EventEncoder::Interval EventEncoder::to_interval(std::uint64_t begin,
                                                                               std::uint64_t end) const {
  if (__builtin_expect(options_.time_metric == model::TimeMetric::kUs, 1)) {
    const std::uint64_t ts = begin / 1'000;
    return {ts, end / 1'000 - ts};
  }
  const std::uint64_t ts = to_unit(begin);
  return {ts, to_unit(end) - ts};
}

// All that is read or changed for each record is a value of its own: `p` may point anywhere, for all that a compiler
// knows.
template <typename Copy>
[[gnu::always_inline]] inline RecordRun EventEncoder::encode_run_by(const char* records, std::size_t bytes,
                                                                    std::size_t full, base::Buffer& out) {
  const EventLines::Found lines = lines_.all();
  if (lines.count == 0 || out.capacity() < lines.most_room) return {0, 0};
  const char* const limit = out.data() + std::min(full, out.capacity() - lines.most_room);
  const base::ClockMap::Piece clock = clock_.recent();
  LineFrame::Digits frame = frame_.digits();
  const std::uint32_t first = frame.low;
  BlockStats stats;
  const char* at = records;
  char* p = out.end();
  for (const char* const end = records + bytes; at < end && p < limit;) {
    const auto& record = *reinterpret_cast<const model::RecordHeader*>(at);
    EventLine* const line = lines.of(record.schema);
    if (line == nullptr || !line->is_for(record) || !clock.has(record.begin) || !clock.has(record.end)) break;
    const Interval times = to_interval(clock.to_ns(record.begin), clock.to_ns(record.end));
    if (!line->is_of(frame.version) || !frame.covers(times.ts)) break;
    char* const behind_dur = text::put_uint(line->put_head<Copy>(p, frame, times.ts), times.dur);
    char* const behind = line->put_end<Copy>(behind_dur, record);
    if (__builtin_expect(behind == nullptr, 0)) break;
    p = behind;
    at += record.size;
    stats.add_event(line->layer_bit(), times.ts, times.ts + times.dur);
    if (!frame.advance()) break;
  }
  stats.events = stats.lines = frame.low - first;
  stats_.add(stats);  // used_layers_ has the layers since the lines were rendered
  frame_.advance_to(frame);
  out.advance(static_cast<std::size_t>(p - out.end()));
  return {static_cast<std::size_t>(at - records), frame.low - first};
}

RecordRun EventEncoder::encode_run_plain(const char* records, std::size_t bytes, std::size_t full, base::Buffer& out) {
  return encode_run_by<text::PlainCopy>(records, bytes, full, out);
}

DFT_FOR_WIDE_COPY RecordRun EventEncoder::encode_run_wide(const char* records, std::size_t bytes, std::size_t full,
                                                          base::Buffer& out) {
  return encode_run_by<text::WideCopy>(records, bytes, full, out);
}

bool EventEncoder::encode_constants(const model::RecordHeader& record, std::int32_t chunk_tid, base::Buffer& out) {
  EventLine* const line = lines_.all().of(record.schema);
  if (line == nullptr || !line->is_for(record)) return learn_line(record, chunk_tid, out);
  if (!out.reserve(lines_.all().most_room + 1)) return false;
  clock_.to_ns(record.end);  // the run uses the same piece
  const std::uint64_t ts = to_unit(clock_.to_ns(record.begin));
  if (!frame_.move_to(ts)) return encode_any(record, chunk_tid, out);
  if (!line->is_of(frame_.version())) line->bring_to(frame_);
  const auto* const bytes = reinterpret_cast<const char*>(&record);
  if (encode_run(bytes, record.size, out.capacity(), out).lines != 0) return true;
  const SchemaText* schema = schemas_.find(record.schema);
  if (schema != nullptr) EventLines::renew(*line, record, *schema, args_head_);
  return encode_any(record, chunk_tid, out);
}

bool EventEncoder::learn_line(const model::RecordHeader& record, std::int32_t chunk_tid, base::Buffer& out) {
  if (!encode_any(record, chunk_tid, out)) return false;
  if (!options_.metadata || lines_.has(record.schema)) return true;
  const SchemaText* schema = schemas_.find(record.schema);
  const SitePrefix* site = sites_.find(record.site);
  if (schema == nullptr || site == nullptr) return true;
  sites_.add_tid(*site, tid_of(record, chunk_tid));
  lines_.add(record, site->layer, {sites_.text(*site), site->size_with_tid}, *schema, args_head_);
  return true;
}

}  // namespace dft::encode
