// SPDX-License-Identifier: MIT
// Purpose: the common case of ActivityWriter, inlined into the decoder's loop: a call or kernel with good times and a
//          known template. Two of three instructions between a vendor's record and ours are here.
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

// What finds no room is counted as lost by the recorder, so it is not tried again in another way. REQUIRES: times that
// are not suspect, as they came; the template's lane is known.
[[gnu::always_inline]] inline void ActivityWriter::write_own_args(const ArgTemplate& known, ActivityKind kind,
                                                                  const OwnValues& own) {
  ++counts_.records[static_cast<unsigned>(kind)];
  char* const at = run_.begin(kMostOwnArgs);
  if (__builtin_expect(at == nullptr, 0)) return;
  ActivityArgs args(at + sizeof(model::RecordHeader));
  args.add(Key::kCorrelation, own.correlation);
  if (kind == ActivityKind::kKernel) args.add_signed(Key::kGridId, own.grid_id);
  if (with_dur_ns_ && has_dur_ns(kind)) args.add(Key::kDurNs, own.end - own.begin);
  const base::Ticks begin = clock_->to_ticks(own.begin);
  const base::Ticks end = clock_->to_ticks(own.end);
  record::put_event(at, known.site, begin, end, known.schema, args.end(), known.lane, model::kFlagConstants);
  run_.end(args.end());
}

template <ActivityKind kind>
[[gnu::always_inline]] inline bool ActivityWriter::try_call(const ApiCall& call) {
  const KernelName name{known_site(kind, call.operation), 0};
  if (name.site == 0 || call.return_value != 0 || call.correlation == kNoId) return false;
  if (!has_good_times(kind, call.begin, call.end, call.correlation)) return false;
  const ArgTemplate* const known = templates_.find_recent(call, name);
  if (known == nullptr || known->lane == 0) return false;
  remember_launch(call.correlation, call.begin, call.end);
  write_own_args(*known, kind, {call.begin, call.end, call.correlation, 0});
  return true;
}

[[gnu::always_inline]] inline bool ActivityWriter::try_launch(const KernelLaunch& launch) {
  constexpr ActivityKind kKernel = ActivityKind::kKernel;
  if (launch.correlation == kNoId) return false;
  if (!has_good_times(kKernel, launch.begin, launch.end, launch.correlation)) return false;
  const KernelName* const compared = names_.compared(launch.symbol);
  const KernelName name = __builtin_expect(compared != nullptr, 1) ? *compared : name_of(launch.symbol);
  const ArgTemplate* const known = templates_.find_recent(launch, name);
  if (known == nullptr || known->lane == 0) return false;
  write_own_args(*known, kKernel, {launch.begin, launch.end, launch.correlation, launch.grid_id});
  return true;
}

}  // namespace dft::gpu
