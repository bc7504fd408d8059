// SPDX-License-Identifier: MIT
// Purpose: what the drain works with for one trace file. Lies in a mapping of its own that forked children do not
// inherit. Threads: the drain's thread (or whoever holds its inline lock).
#pragma once

#include "write/drain.h"

namespace dft::write {

struct Drain::Work {
  Work(const DrainOptions& opts, const model::Definitions& definitions, TraceNotes& notes)
      : options(opts), writer(opts.writer, definitions, clock, notes) {}

  DrainOptions options;
  base::ClockMap clock;
  TraceWriter writer;
  CrashFile crash;
  bool shared_descriptors = true;
  model::ChunkHeader* held = nullptr;  // drained, waiting for their block (crash-safe mode); chain over `next`
  std::uint64_t next_liveness_check = 0;
  std::int64_t wall_offset_ns = 0;
  bool wall_offset_known = false;
  bool said_unprotected = false;
};

}  // namespace dft::write
