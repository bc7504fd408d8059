// SPDX-License-Identifier: MIT
// Purpose: records -> JSON lines of the trace format. Pure: no threads, no files, no malloc
//          (base::Buffer only), so it also runs while the application is crashed.
// Threads: one owner (the drain, or the recover command).
// Invariants:
//   1. Each call appends whole lines only, each valid JSON and valid UTF-8, of any length.
//   2. A hash used by a line has its FH/HH/SH record earlier in the same file.
//   3. ts and ts+dur are floored in the output unit from the same map, so nesting survives rounding.
//   4. No object has a key twice: a key of the application that the format uses itself gets a trailing underscore.
// See: docs/format.md.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/hash.h"
#include "encode/event_lines.h"
#include "encode/line_texts.h"
#include "encode/record_args.h"
#include "encode/schema_texts.h"
#include "encode/site_cache.h"
#include "encode/string_cache.h"
#include "model/definitions.h"
#include "model/record.h"
#include "model/trace_format.h"

namespace dft::encode {

struct EncoderOptions {
  std::int32_t pid = 0;
  char host_hash[16] = {};   // hex digits; anything else is written as zeros
  bool metadata = true;      // false: no args on events, but relations stay (counters keep theirs: they are the sample)
  bool include_tids = true;  // false: tid 0 (GPU lanes keep their number)
  model::TimeMetric time_metric = model::TimeMetric::kUs;
  std::uint64_t first_id = 1;
};

// What a block of lines holds, for the block index. `reset` at each block.
struct BlockStats {
  std::uint64_t lines = 0;
  std::uint64_t events = 0;                  // COMPLETE + COUNTER
  std::uint64_t ts_min = ~std::uint64_t{0};  // output unit
  std::uint64_t ts_max = 0;                  // end of the latest event
  std::uint32_t layers = 0;                  // bit per Layer number of any line
  void reset() { *this = BlockStats{}; }
  // An event, but for its count.
  void add_event(std::uint32_t layer_bits, std::uint64_t ts, std::uint64_t end) {
    layers |= layer_bits;
    if (ts < ts_min) ts_min = ts;
    if (end > ts_max) ts_max = end;
  }
  void add(const BlockStats& more) {
    lines += more.lines;
    events += more.events;
    add_event(more.layers, more.ts_min, more.ts_max);
  }
};

// What EventEncoder::encode_run() did.
struct RecordRun {
  std::size_t bytes;    // of the records
  std::uint32_t lines;  // one each
};

class EventEncoder {
 public:
  EventEncoder(const model::Definitions& definitions, const base::ClockMap& clock, const EncoderOptions& options);
  ~EventEncoder() = default;
  EventEncoder(const EventEncoder&) = delete;
  EventEncoder& operator=(const EventEncoder&) = delete;

  // Appends the line for `record` (args follow it in memory), preceded by hash records it needs for the first time.
  // False, and nothing appended, when the record is inconsistent, its site unknown, or memory is refused.
  bool encode(const model::RecordHeader& record, std::int32_t chunk_tid, base::Buffer& out) {
    const bool constants = (record.flags & model::kFlagConstants) != 0;
    return constants ? encode_constants(record, chunk_tid, out) : encode_any(record, chunk_tid, out);
  }

  // The same for the records from `records` on, of which those up to the first that is unusual are encoded: maybe none.
  // Ends also when `out` has `full` bytes, for the caller to look after it.
  RecordRun encode_run(const char* records, std::size_t bytes, std::size_t full, base::Buffer& out) {
    return wide_ ? encode_run_wide(records, bytes, full, out) : encode_run_plain(records, bytes, full, out);
  }

  // Appends one METADATA record of layer DFTRACER: args is a JSON fragment without braces (`"name":"x","value":"y"`),
  // to which hhash is put in front.
  void metadata(std::string_view name, std::int32_t tid, std::string_view args_fragment, base::Buffer& out);

  // Appends one COMPLETE record of layer DFTRACER, dur 0 (start, end). `args_fragment` as above; written whatever
  // `metadata`.
  void life_cycle_event(std::string_view name, std::int32_t tid, std::uint64_t trace_ns, std::string_view args_fragment,
                        base::Buffer& out);

  // Appends the FH/HH/SH record of a string if this file does not have it yet, and returns its hash.
  base::StringHash define_string(model::StringKind kind, std::string_view bytes, std::int32_t tid, base::Buffer& out);

  // A block with hash records was lost before it reached the file: from now on each string is defined anew at its next
  // use, so that invariant 2 holds for the lines to come.
  void forget_defined_strings();

  // In a fork child, whose copy of the caches is not mapped (base/buffer.h): nothing is given back. The encoder is then
  // as new, but for its counts.
  void forget();

  std::uint64_t next_id() const { return frame_.id(); }       // id that the next event gets
  void take_back_id(std::uint64_t id) { frame_.set_id(id); }  // no line with this id or a later one reached the file
  // Bit per Layer that had an event, DFTRACER excluded.
  std::uint32_t used_layers() const {
    return used_layers_ & ~(std::uint32_t{1} << static_cast<unsigned>(model::Layer::kDftracer));
  }
  std::uint64_t reversed_records() const { return reversed_; }  // end before begin; written with dur 0
  BlockStats& stats() { return stats_; }

 private:
  struct Interval {
    std::uint64_t ts;
    std::uint64_t dur;
  };

  bool encode_any(const model::RecordHeader& record, std::int32_t chunk_tid, base::Buffer& out);
  bool encode_constants(const model::RecordHeader& record, std::int32_t chunk_tid, base::Buffer& out);
  bool learn_line(const model::RecordHeader& record, std::int32_t chunk_tid, base::Buffer& out);
  RecordRun encode_run_plain(const char* records, std::size_t bytes, std::size_t full, base::Buffer& out);
  RecordRun encode_run_wide(const char* records, std::size_t bytes, std::size_t full, base::Buffer& out);
  template <typename Copy>
  RecordRun encode_run_by(const char* records, std::size_t bytes, std::size_t full, base::Buffer& out);
  Interval to_interval(std::uint64_t begin, std::uint64_t end) const;
  ArgsOutcome write_record(const model::RecordHeader& record, const SitePrefix& site, std::int32_t tid,
                           base::Buffer& out);
  ArgsOutcome write_event(const model::RecordHeader& record, const SitePrefix& site, const SchemaText* schema,
                          std::int32_t tid, base::Buffer& out);
  ArgsOutcome finish_event(char* end, model::Layer layer, const Interval& times, base::Buffer& out);
  ArgsOutcome write_counter(const model::RecordHeader& record, const SitePrefix& site, const SchemaText* schema,
                            std::int32_t tid, base::Buffer& out);
  ArgsOutcome write_metadata(const model::RecordHeader& record, const SitePrefix& site, const SchemaText* schema,
                             std::int32_t tid, base::Buffer& out);
  bool write_with_definitions(const model::RecordHeader& record, const SitePrefix& site, std::int32_t tid,
                              base::Buffer& out);
  bool define_strings_of(const model::RecordHeader& record, std::int32_t tid, base::Buffer& out);
  bool define(const model::StringDef& string, std::int32_t tid, base::Buffer& out);
  char* put_complete(char* p, const SitePrefix& site, std::int32_t tid, const Interval& times);
  char* put_times(char* p, const Interval& times);
  char* put_counter(char* p, const SitePrefix& site, std::int32_t tid, std::uint64_t ts);
  char* put_metadata(char* p, const SitePrefix& site, std::int32_t tid);
  char* put_own_line(char* p, std::string_view name, std::int32_t tid);
  Interval interval_of(const model::RecordHeader& record) const;
  Interval to_units(std::uint64_t begin, std::uint64_t end, std::uint8_t flags) const;
  std::uint64_t to_unit(std::uint64_t ns) const;
  std::int32_t tid_of(const model::RecordHeader& record, std::int32_t chunk_tid) const {
    constexpr std::int32_t kFirstLane = 1 << 30;  // tids from here on are lanes of the tracer, not kernel threads
    const std::int32_t tid = record.lane != 0 ? static_cast<std::int32_t>(record.lane) : chunk_tid;
    return options_.include_tids || tid >= kFirstLane ? tid : 0;
  }
  void count_line(model::Layer layer) {
    ++stats_.lines;
    stats_.layers |= layer_bit(layer);
  }
  void count_event(model::Layer layer, std::uint64_t ts, std::uint64_t end) {
    ++stats_.lines;
    ++stats_.events;
    stats_.add_event(layer_bit(layer), ts, end);
    used_layers_ |= layer_bit(layer);
  }

  const base::ClockMap& clock_;
  const EncoderOptions options_;
  const bool wide_ = text::has_wide_copy();
  SiteCache sites_;
  StringCache strings_;
  SchemaTexts schemas_;
  EventLines lines_;
  const model::Definitions& definitions_;
  BlockStats stats_;
  std::uint64_t reversed_ = 0;
  std::uint32_t used_layers_ = 0;
  // Texts that change little from one line to the next.
  LineFrame frame_;
  TidText tid_text_;
  TimeText time_text_;
  ArgsHead args_head_;
};

}  // namespace dft::encode
