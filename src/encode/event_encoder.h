// SPDX-License-Identifier: MIT
// Purpose: records -> JSON lines of the trace format. Pure: no threads, no files, no malloc after construction
//          (base::Buffer only), so it also runs while the application is crashed.
// Threads: one owner (the drain, or the recover command).
// Invariants:
//   1. Each call appends whole lines only, each valid JSON and valid UTF-8, of any length.
//   2. A hash used by a line has its FH/HH/SH record earlier in the same file.
//   3. ts and ts+dur are floored in the output unit from the same map, so nesting survives rounding.
// See: docs/format.md.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/hash.h"
#include "model/definitions.h"
#include "model/record.h"
#include "model/trace_format.h"

namespace dft::encode {

struct EncoderOptions {
  std::int32_t pid = 0;
  char host_hash[16] = {};
  bool metadata = true;      // false: no args on events, but relations stay
  bool include_tids = true;  // false: tid 0
  model::TimeMetric time_metric = model::TimeMetric::kUs;
  std::uint64_t first_id = 1;
};

// What a block of lines holds, for the block index. `reset` at each block.
struct BlockStats {
  std::uint64_t lines = 0;
  std::uint64_t events = 0;                  // COMPLETE + COUNTER
  std::uint64_t ts_min = ~std::uint64_t{0};  // output unit
  std::uint64_t ts_max = 0;                  // end of the latest event
  std::uint32_t layers = 0;                  // bit per Layer number
  void reset() { *this = BlockStats{}; }
};

class EventEncoder {
 public:
  EventEncoder(const model::Definitions& definitions, const base::ClockMap& clock, const EncoderOptions& options);
  ~EventEncoder();
  EventEncoder(const EventEncoder&) = delete;
  EventEncoder& operator=(const EventEncoder&) = delete;

  // Appends the line for `record` (args follow it in memory), preceded by hash records it needs for the first time.
  // False, and nothing appended, when the record is inconsistent or its site unknown.
  bool encode(const model::RecordHeader& record, std::int32_t chunk_tid, base::Buffer& out);

  // Appends one METADATA record of layer DFTRACER: args is a JSON fragment without braces (`"name":"x","value":"y"`),
  // to which hhash is put in front.
  void metadata(std::string_view name, std::int32_t tid, std::string_view args_fragment, base::Buffer& out);

  // Appends one COMPLETE record of layer DFTRACER, dur 0 (start, end). `args_fragment` as above; written whatever
  // `metadata`.
  void life_cycle_event(std::string_view name, std::int32_t tid, std::uint64_t trace_ns, std::string_view args_fragment,
                        base::Buffer& out);

  // Appends the FH/HH/SH record of a string if this file does not have it yet, and returns its hash.
  base::StringHash define_string(model::StringKind kind, std::string_view bytes, std::int32_t tid, base::Buffer& out);

  std::uint64_t next_id() const;           // id that the next event gets
  std::uint32_t used_layers() const;       // bit per Layer number that had an event, DFTRACER excluded
  std::uint64_t reversed_records() const;  // records whose end lay before their begin; written with dur 0
  BlockStats& stats();

 private:
  struct Impl;
  Impl* impl_;
};

}  // namespace dft::encode
