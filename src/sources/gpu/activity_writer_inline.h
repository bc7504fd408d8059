// SPDX-License-Identifier: MIT
// Purpose: the common case of ActivityWriter, for the decoder whose loop it is part of: a call or kernel whose times
// are
//          good and whose template is known. Two of three instructions between a vendor's record and ours are here.
// Threads: the decoding thread.
#pragma once

#include "record/in_place.h"
#include "sources/gpu/activity_writer.h"

namespace dft::gpu {

inline constexpr std::uint64_t kFutureSlackNs = 1'000'000;

// Work that an API call asked for.
inline bool is_work(ActivityKind kind) {
  return kind == ActivityKind::kKernel || kind == ActivityKind::kMemcpy || kind == ActivityKind::kMemcpyP2p ||
         kind == ActivityKind::kMemset || kind == ActivityKind::kGraph;
}

inline bool has_dur_ns(ActivityKind kind) { return kind != ActivityKind::kMemory && kind != ActivityKind::kMarker; }

inline void ActivityWriter::remember_launch(std::uint32_t correlation, std::uint64_t begin, std::uint64_t end) {
  if (launches_ != nullptr) launches_[correlation % kLaunches] = {begin, correlation, end};
}

inline model::SiteId ActivityWriter::known_site(ActivityKind kind, unsigned operation) const {
  return sites_ == nullptr ? 0 : sites_[static_cast<unsigned>(kind) * kOperations + operation];
}

// Whether times_of() would find nothing suspect, in the common case.
[[gnu::always_inline]] inline bool ActivityWriter::has_good_times(ActivityKind kind, std::uint64_t begin,
                                                                  std::uint64_t end, std::uint32_t correlation) const {
  if (begin == 0 || end < begin || end > arrival_ns_ + kFutureSlackNs) return false;
  if (!is_work(kind) || launches_ == nullptr) return true;
  const Launch& launch = launches_[correlation % kLaunches];
  return launch.correlation != correlation || begin >= launch.begin;
}

// REQUIRES: times that are not suspect, as they came; the template's lane is known.
[[gnu::always_inline]] inline void ActivityWriter::write_own_args(const ArgTemplate& known, ActivityKind kind,
                                                                  std::uint64_t begin, std::uint64_t end,
                                                                  std::uint32_t correlation, std::int64_t grid_id) {
  ++counts_.records[static_cast<unsigned>(kind)];
  constexpr std::size_t kMost = 3 * sizeof(std::uint64_t);  // kOwnKeys
  record::EventInPlace event(kMost);
  if (!event) return;
  ActivityArgs args(event.args());
  args.add(Key::kCorrelation, correlation);
  if (kind == ActivityKind::kKernel) args.add_signed(Key::kGridId, grid_id);
  if (with_dur_ns_ && has_dur_ns(kind)) args.add(Key::kDurNs, end - begin);
  event.end(known.name.site, clock_->to_ticks(begin), clock_->to_ticks(end), known.schema, args.end(), known.lane,
            model::kFlagConstants);
}

[[gnu::always_inline]] inline bool ActivityWriter::try_call(const ApiCall& call) {
  const KernelName name{known_site(call.kind, call.operation), 0};
  const bool is_common = name.site != 0 && call.return_value == 0 && call.correlation != kNoId &&
                         has_good_times(call.kind, call.begin, call.end, call.correlation);
  if (__builtin_expect(!is_common, 0)) return false;
  const ArgTemplate* known = templates_.find_recent(call, name);
  if (__builtin_expect(known == nullptr || known->lane == 0, 0)) return false;
  remember_launch(call.correlation, call.begin, call.end);
  write_own_args(*known, call.kind, call.begin, call.end, call.correlation, 0);
  return true;
}

[[gnu::always_inline]] inline bool ActivityWriter::try_launch(const KernelLaunch& launch) {
  const bool is_common = launch.correlation != kNoId &&
                         has_good_times(ActivityKind::kKernel, launch.begin, launch.end, launch.correlation);
  if (__builtin_expect(!is_common, 0)) return false;
  const ArgTemplate* known = templates_.find_recent(launch, names_.of(launch.symbol));
  if (__builtin_expect(known == nullptr || known->lane == 0, 0)) return false;
  write_own_args(*known, ActivityKind::kKernel, launch.begin, launch.end, launch.correlation, launch.grid_id);
  return true;
}

}  // namespace dft::gpu
