// SPDX-License-Identifier: MIT
// Purpose: Activity values -> records: names, lanes, times, args.
// Threads: one owner, the decoding thread. No allocation but for a name, lane or arg list that is new.
// Invariant: suspect times are flagged and counted, never repaired in silence.
#pragma once

#include <cstdint>

#include "record/in_place.h"
#include "sources/gpu/activity.h"
#include "sources/gpu/activity_args.h"
#include "sources/gpu/arg_templates.h"
#include "sources/gpu/backend.h"
#include "sources/gpu/gpu_clock.h"
#include "sources/gpu/lanes.h"
#include "sources/gpu/name_table.h"
#include "sources/gpu/named_writer.h"
#include "sources/gpu/settings.h"

namespace dft::gpu {

enum class Suspect : std::uint8_t { kNone, kZero, kZeroEnd, kReversed, kFuture, kBeforeApi };
inline constexpr unsigned kSuspects = 6;
const char* suspect_name(Suspect suspect);

struct WriterCounts {
  std::uint64_t records[kActivityKinds] = {};
  std::uint64_t named[kNamedKinds] = {};
  std::uint64_t named_work = 0;            // of them, on a device
  std::uint64_t suspects[kSuspects] = {};  // not all of kNone
  std::uint64_t losses[kLossCauses] = {};
};

class ActivityWriter final : public ActivitySink {
 public:
  // Once for each start.
  void configure(const Settings& settings, Backend& backend, GpuClock& clock);
  // What follows came in a buffer that arrived then (vendor clock): the time of records that have none.
  void arrived_at(std::uint64_t vendor_ns) {
    arrival_ns_ = vendor_ns;
    names_.next_buffer();
  }

  void activity(const Activity& activity) override;
  // The common case of activity(), without one and inlined into a decoder (activity_writer_inline.h). False when it is
  // not the common case: then nothing is written. Afterwards, end_run() before the thread emits anything by itself.
  template <ActivityKind kind>
  bool try_call(const ApiCall& call);
  bool try_launch(const KernelLaunch& launch);
  void end_run() { run_.close(); }
  void in_forked_child() { run_.forget(); }
  ActivityWriter* writer() override { return this; }
  void named(const NamedActivity& activity) override;  // named_writer.cc
  void device(const DeviceFacts& facts) override;
  void context(const ContextFacts& facts) override;
  void stream(const StreamFacts& facts) override;
  void graph(const GraphFacts& facts) override;
  void loss(LossCause cause, std::uint64_t count, std::uint64_t bytes, const char* detail) override;

  const WriterCounts& counts() const { return counts_; }
  void forget_counts() { counts_ = WriterCounts{}; }
  NameTable& names() { return names_; }
  Lanes& lanes() { return lanes_; }

 private:
  struct Times {
    std::uint64_t begin, end;
    Suspect suspect;
  };
  // The API calls seen last, by correlation id: when GPU work was asked for.
  struct Launch {
    std::uint64_t begin;
    std::uint64_t correlation;
    std::uint64_t end;
  };
  static constexpr std::uint32_t kLaunches = 1 << 14;

  // What no template holds (kOwnKeys).
  struct OwnValues {
    std::uint64_t begin, end;
    std::uint32_t correlation;
    std::int64_t grid_id;
  };
  static constexpr std::size_t kMostOwnArgs = 3 * sizeof(std::uint64_t);
  // `kind`: a constant where it is known.
  void write_own_args(const ArgTemplate& known, ActivityKind kind, const OwnValues& own);
  void write_all_args(const Activity& activity, KernelName name);
  std::uint32_t device_of(const Activity& activity);
  void remember_launch(std::uint32_t correlation, std::uint64_t begin, std::uint64_t end);
  Times times_of(const Activity& activity) const;
  bool has_good_times(ActivityKind kind, std::uint64_t begin, std::uint64_t end, std::uint32_t correlation) const;
  Times named_times(const NamedActivity& activity) const;
  KernelName name_of(const char* symbol);
  model::SiteId known_site(ActivityKind kind, unsigned operation) const;  // 0: none yet
  model::SiteId site_of(const Activity& activity);
  model::SiteId make_site(const Activity& activity, unsigned operation) const;
  std::uint32_t lane_of(const Activity& activity, std::uint32_t device);
  void emit_facts(const char* name, const record::Args& args) const;

  Settings settings_;
  Backend* backend_ = nullptr;
  GpuClock* clock_ = nullptr;
  NameTable names_;
  Lanes lanes_;
  SchemaCache schemas_;
  ArgTemplates templates_;
  NamedSchemas named_schemas_;
  NamedSites named_sites_;
  model::SiteId* sites_ = nullptr;  // [kActivityKinds][kOperations]
  Launch* launches_ = nullptr;
  record::EventRun run_;  // of records with templates; closed before anything else is emitted
  std::uint64_t arrival_ns_ = 0;
  bool with_dur_ns_ = true;
  WriterCounts counts_;
};

const char* loss_cause_name(LossCause cause);

}  // namespace dft::gpu
