// SPDX-License-Identifier: MIT
#include "sources/gpu/activity_writer.h"

#include <charconv>
#include <cstring>
#include <iterator>

#include "base/raw_io.h"
#include "record/emit.h"
#include "sources/gpu/activity_values.h"
#include "sources/gpu/activity_writer_inline.h"

namespace dft::gpu {

namespace {

// Kinds whose records have one time only.
bool is_instant(ActivityKind kind) { return kind == ActivityKind::kMemory; }

}  // namespace

const char* suspect_name(Suspect suspect) {
  static constexpr const char* kNames[kSuspects] = {"none", "zero", "zero_end", "reversed", "future", "before_api"};
  return kNames[static_cast<unsigned>(suspect)];
}

const char* loss_cause_name(LossCause cause) {
  static constexpr const char* kNames[kLossCauses] = {"gpu_dropped", "gpu_undecodable", "gpu_unavailable", "api_quiet",
                                                      "gpu_late"};
  return kNames[static_cast<unsigned>(cause)];
}

void ActivityWriter::configure(const Settings& settings, Backend& backend, GpuClock& clock) {
  settings_ = settings;
  backend_ = &backend;
  clock_ = &clock;
  const bool with_dur_ns = settings.time_metric != model::TimeMetric::kNs;
  templates_.configure(with_dur_ns == with_dur_ns_);
  with_dur_ns_ = with_dur_ns;
  names_.configure(settings.kernel_names, backend.category(ActivityKind::kKernel), backend.layer(),
                   backend.hidden_suffix());
  lanes_.configure(backend.layer(), "CUPTI overhead");
  lanes_.forget();
  named_schemas_.configure(backend.named_fields());
  named_sites_.configure(backend);
  constexpr std::size_t kSites = std::size_t{kActivityKinds} * kOperations;
  if (sites_ == nullptr) sites_ = static_cast<model::SiteId*>(base::raw::map(kSites * sizeof(model::SiteId)));
  if (launches_ != nullptr)
    std::memset(static_cast<void*>(launches_), 0, kLaunches * sizeof(Launch));  // of another run
  if (launches_ == nullptr) launches_ = static_cast<Launch*>(base::raw::map(kLaunches * sizeof(Launch)));
}

inline ActivityWriter::Times ActivityWriter::times_of(const Activity& activity) const {
  const ActivityKind kind = activity.kind;
  Times times{activity.begin, activity.end, Suspect::kNone};
  if (is_instant(kind)) times.end = times.begin;
  const Launch* launch = nullptr;
  if (launches_ != nullptr && activity.correlation != kNoId && !is_api(kind)) {
    launch = &launches_[activity.correlation % kLaunches];
    if (launch->correlation != activity.correlation || launch->begin == 0) launch = nullptr;
  }
  if (times.begin == 0) {
    // With an end alone the begin is as unknown as with none.
    times.begin = times.end = times.end != 0 ? times.end : launch != nullptr ? launch->end : arrival_ns_;
    times.suspect = Suspect::kZero;
  } else if (times.end == 0) {
    times.end = times.begin;
    // A point in time of unified memory is as it should be.
    if (kind != ActivityKind::kUnifiedMemory) times.suspect = Suspect::kZeroEnd;
  } else if (times.end < times.begin) {
    times.end = times.begin;
    times.suspect = Suspect::kReversed;
  } else if (times.end > arrival_ns_ + kFutureSlackNs) {
    times.suspect = Suspect::kFuture;
  } else if (launch != nullptr && is_work(kind) && times.begin < launch->begin) {
    times.suspect = Suspect::kBeforeApi;
  }
  return times;
}

KernelName ActivityWriter::name_of(const char* symbol) {
  end_run();
  return names_.of(symbol);
}

model::SiteId ActivityWriter::site_of(const Activity& activity) {
  const unsigned operation = activity.operation < kOperations ? activity.operation : 0;
  const model::SiteId known = known_site(activity.kind, operation);
  if (known != 0) return known;
  const model::SiteId site = make_site(activity, operation);
  if (sites_ != nullptr) sites_[static_cast<unsigned>(activity.kind) * kOperations + operation] = site;
  return site;
}

model::SiteId ActivityWriter::make_site(const Activity& activity, unsigned operation) const {
  std::string_view name = backend_->operation_name(activity.kind, activity.operation);
  char unknown[16] = "cbid_";
  if (name.empty()) {
    name = {unknown, static_cast<std::size_t>(std::to_chars(unknown + 5, std::end(unknown), operation).ptr - unknown)};
  }
  return record::site_id(name, backend_->category(activity.kind), backend_->layer());
}

inline std::uint32_t ActivityWriter::lane_of(const Activity& activity, std::uint32_t device) {
  switch (activity.kind) {
    case ActivityKind::kRuntimeApi:
    case ActivityKind::kDriverApi: return activity.api.tid;
    case ActivityKind::kSync: return lanes_.of(LaneKind::kSync, device, activity.context, kNoId);
    case ActivityKind::kMemory: return lanes_.of(LaneKind::kMemory, device, kNoId, kNoId);
    case ActivityKind::kUnifiedMemory: return lanes_.of(LaneKind::kUnifiedMemory, device, kNoId, kNoId);
    case ActivityKind::kOverhead: return lanes_.of(LaneKind::kOverhead, kNoId, kNoId, kNoId);
    default: return lanes_.of(LaneKind::kStream, device, activity.context, activity.stream);
  }
}

void ActivityWriter::activity(const Activity& activity) {
  end_run();
  const ActivityKind kind = activity.kind;
  if (is_api(kind)) remember_launch(activity.correlation, activity.begin, activity.end);
  const KernelName name =
      kind == ActivityKind::kKernel ? names_.of(activity.kernel.symbol) : KernelName{site_of(activity), 0};
  const bool is_good =
      may_have_template(activity) && has_good_times(kind, activity.begin, activity.end, activity.correlation);
  ArgTemplate* const known = is_good ? templates_.find(activity, name) : nullptr;
  if (known == nullptr) return write_all_args(activity, name);
  if (known->lane == 0) known->lane = lane_of(activity, device_of(activity));
  const std::int64_t grid_id = kind == ActivityKind::kKernel ? activity.kernel.grid_id : 0;
  write_own_args(*known, kind, {activity.begin, activity.end, activity.correlation, grid_id});
  end_run();
}

inline std::uint32_t ActivityWriter::device_of(const Activity& activity) {
  const bool is_known = is_api(activity.kind) || activity.device != kNoId || activity.context == kNoId;
  return is_known ? activity.device : lanes_.device_of(activity.context);
}

void ActivityWriter::write_all_args(const Activity& activity, KernelName name) {
  const ActivityKind kind = activity.kind;
  const Times times = times_of(activity);
  ++counts_.suspects[static_cast<unsigned>(times.suspect)];
  ++counts_.records[static_cast<unsigned>(kind)];
  const std::uint32_t device = device_of(activity);
  const std::uint32_t lane = lane_of(activity, device);  // may emit the lane's name
  std::uint64_t values[model::kMaxFields];
  std::uint64_t keys = 0;
  {
    record::EventInPlace event(ActivityArgs::kMost);
    if (!event) return;
    ActivityArgs args = args_of(event.args(), activity, kind, device, name.symbol);
    if (with_dur_ns_ && has_dur_ns(kind)) args.add(Key::kDurNs, times.end - times.begin);
    if (times.suspect != Suspect::kNone) args.add_string(Key::kClockSuspect, suspect_name(times.suspect));
    const model::SchemaId schema = schemas_.of(args.keys(), kind);
    const bool usable = schema != model::kSelfDescribing;  // else no memory: the event stays, without args
    const auto size = static_cast<std::size_t>(args.end() - event.args());
    // A context's device may become known later, and is an arg then.
    const bool final = is_api(kind) || device != kNoId || activity.context == kNoId;
    if (usable && final && times.suspect == Suspect::kNone && may_have_template(activity) && size <= sizeof values &&
        templates_.is_worth_one(activity, name.site)) {
      keys = args.keys();
      std::memcpy(values, event.args(), size);
    }
    event.end(name.site, clock_->to_ticks(times.begin), clock_->to_ticks(times.end), usable ? schema : model::kNoArgs,
              usable ? args.end() : event.args(), lane);
  }
  if (keys != 0) templates_.make(activity, name, keys, values);
}

void ActivityWriter::emit_facts(const char* name, const record::Args& args) const {
  record::emit_metadata(record::site_id(name, model::kCategoryDftracer, backend_->layer()), args);
}

namespace {
// "GPU-xxxxxxxx-xxxx-...", as the vendor's tools print it.
std::string_view uuid_text(const unsigned char (&uuid)[16], const char* prefix, char (&out)[48]) {
  static constexpr char kHex[] = "0123456789abcdef";
  char* p = out;
  while (*prefix != '\0') *p++ = *prefix++;
  for (unsigned i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *p++ = '-';
    *p++ = kHex[uuid[i] >> 4];
    *p++ = kHex[uuid[i] & 15];
  }
  return {out, static_cast<std::size_t>(p - out)};
}
}  // namespace

void ActivityWriter::device(const DeviceFacts& facts) {
  end_run();
  char text[48];
  record::ArgList<1024> args;
  args.add_uint64("device_id", facts.id);
  if (facts.name != nullptr) args.add_string("name", facts.name);
  args.add_string("uuid", uuid_text(facts.uuid, "GPU-", text));
  if (facts.has_mig) {
    args.add_string("mig_uuid", uuid_text(facts.mig_uuid, "MIG-", text));
    args.add_uint64("gpu_instance_id", facts.gpu_instance);
  }
  if (facts.pci_address[0] != '\0') args.add_string("pci_address", facts.pci_address);
  args.add_uint64("multiprocessors", facts.multiprocessors);
  args.add_uint64("core_clock_khz", facts.core_clock_khz);
  args.add_uint64("memory_bytes", facts.memory_bytes);
  args.add_uint64("memory_bandwidth_kbs", facts.memory_bandwidth_kbs);
  args.add_uint64("compute_capability_major", facts.capability_major);
  args.add_uint64("compute_capability_minor", facts.capability_minor);
  emit_facts("gpu_device", args);
}

void ActivityWriter::context(const ContextFacts& facts) {
  end_run();
  lanes_.add_context(facts.id, facts.device);
  record::ArgList<256> args;
  args.add_uint64("context_id", facts.id);
  args.add_uint64("device_id", facts.device);
  if (facts.null_stream != kNoId) args.add_uint64("null_stream_id", facts.null_stream);
  emit_facts("gpu_context", args);
}

void ActivityWriter::stream(const StreamFacts& facts) {
  end_run();
  record::ArgList<256> args;
  args.add_uint64("stream_id", facts.id);
  args.add_uint64("context_id", facts.context);
  const std::uint32_t device = lanes_.device_of(facts.context);
  if (device != kNoId) args.add_uint64("device_id", device);
  args.add_int64("priority", static_cast<std::int32_t>(facts.priority));
  args.add_uint64("flags", facts.flags);
  emit_facts("gpu_stream", args);
}

void ActivityWriter::graph(const GraphFacts& facts) {
  end_run();
  record::ArgList<128> args;
  args.add_uint64("graph_id", facts.id);
  args.add_uint64("nodes", facts.nodes);
  emit_facts("gpu_graph", args);
}

void ActivityWriter::loss(LossCause cause, std::uint64_t count, std::uint64_t bytes, const char* detail) {
  end_run();
  counts_.losses[static_cast<unsigned>(cause)] += count;
  record::ArgList<1200> args;
  args.add_string("cause", loss_cause_name(cause));
  if (count != 0) args.add_uint64("count", count);
  if (bytes != 0) args.add_uint64("bytes", bytes);
  if (detail != nullptr) args.add_string("detail", std::string_view(detail).substr(0, 900));
  record::emit_metadata(record::site_id(model::kLoss, model::kCategoryDftracer, backend_->layer()), args);
}

}  // namespace dft::gpu
