// SPDX-License-Identifier: MIT
// Purpose: where an event of a GPU lane lies in time, as exactly as the trace tells: its length by dur_ns, and its
// begin
//          within the unit that ts was rounded down to.
// Threads: plain functions.
// Why: with microseconds, short kernels one after the other share a ts; taken as written they would lie on each other
// and
//      a busy lane would look idle.
#pragma once

#include <algorithm>
#include <cstdint>

#include "read/event.h"

namespace dft::tools {

struct GpuInterval {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t length() const { return end - begin; }
};

// `lane_end`: where the event before it on the same lane ends; moved on. The begin is the earliest that ts, dur and
// dur_ns allow, or that end when it is allowed too: work on one lane is done in turn.
inline GpuInterval place_on_lane(const read::Event& event, std::uint64_t unit_ns, std::uint64_t& lane_end) {
  GpuInterval at{event.ts * unit_ns, event.end() * unit_ns};
  if (event.has(read::kArgDurNs) && event.number[read::kArgDurNs] >= 0) {
    const auto length = static_cast<std::uint64_t>(event.number[read::kArgDurNs]);
    const std::uint64_t written = at.length();
    const bool consistent = length < written + unit_ns && written < length + unit_ns;
    if (consistent && unit_ns > 1) {
      const std::uint64_t earliest = at.begin + (written > length ? written - length : 0);
      const std::uint64_t latest = at.begin + unit_ns - 1 - (length > written ? length - written : 0);
      at.begin = std::clamp(lane_end, earliest, std::max(earliest, latest)) == lane_end ? lane_end : earliest;
    }
    at.end = at.begin + length;
  }
  lane_end = std::max(lane_end, at.end);
  return at;
}

}  // namespace dft::tools
