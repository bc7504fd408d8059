// SPDX-License-Identifier: MIT
#include "session/vendor_part.h"

#include <cctype>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/raw_io.h"
#include "config/parse.h"
#include "model/trace_format.h"
#include "record/emit.h"
#include "sources/io/io_source.h"

namespace dft::session {

namespace {
template <typename To, typename From>
To same_place(From value) {
  return static_cast<To>(value);
}
}  // namespace

std::vector<std::string> category_names(const std::vector<std::string>& list) {
  std::vector<std::string> names;
  for (const std::string& item : list) {
    std::string name(config::trimmed(item));
    const bool word = config::equal_any_case(name, "default") || config::equal_any_case(name, "all");
    for (char& c : name) c = static_cast<char>(word ? std::tolower(c) : std::toupper(c));
    names.push_back(std::move(name));
  }
  return names;
}

void tell_unknown_categories(const char* variable, const std::string& unknown, bool none_is_known,
                             std::string_view accepted) {
  base::LogLine() << variable << ": not known: " << unknown << "; accepted: " << accepted << "; "
                  << (none_is_known ? "the default is used" : "it is left out");
}

void VendorPart::fill_settings(const config::Options& config, int pid) {
  settings = gpu::Settings();
  settings.flush_interval_ns = config.flush_interval_ms * 1'000'000;
  settings.exit_timeout_ns = config.gpu_exit_timeout_ms * 1'000'000;
  settings.time_metric = same_place<model::TimeMetric>(config.time_metric);
  settings.wall_minus_monotonic_ns = base::realtime_minus_monotonic_ns();
  settings.pid = pid;
  settings.thread_begins = io::pause_io;
}
static_assert(static_cast<int>(config::GpuApi::kNone) == static_cast<int>(gpu::ApiMode::kNone) &&
              static_cast<int>(config::CudaGraph::kNode) == static_cast<int>(gpu::GraphMode::kNode) &&
              static_cast<int>(config::KernelNames::kMangled) == static_cast<int>(gpu::KernelNames::kMangled));

bool VendorPart::is_this_process() const { return settings.pid == base::raw::pid(); }

bool VendorPart::lock_in_time() {
  const std::uint64_t until = base::monotonic_ns() + settings.exit_timeout_ns;
  const std::uint32_t never = 0;
  while (!lock.try_lock()) {
    if (base::monotonic_ns() > until) return false;
    base::raw::futex_wait(&never, 0, 1'000'000);
  }
  return true;
}

void VendorPart::stop_in_time(void (*missed)(), const char* whose) {
  if (!is_this_process()) return;
  const base::SignalGuard signals;
  if (!lock_in_time()) return;
  const Want before = want.exchange(Want::kNothing, std::memory_order_acq_rel);
  if (before == Want::kWaiting) missed();
  if (before == Want::kStarted && !source().stop()) {
    base::LogLine() << whose << " last records did not come within " << settings.exit_timeout_ns / 1'000'000
                    << " ms (DFTRACER_GPU_EXIT_TIMEOUT_MS): they are missing from the trace";
  }
  lock.unlock();
}

void VendorPart::in_child() {
  lock.reset_after_fork();
  want.store(Want::kNothing, std::memory_order_relaxed);
  source().in_forked_child();
}

void VendorPart::tell_unrecorded(const char* why, std::uint64_t since_ns) const {
  record::ArgList<384> args;
  args.add_string("cause", gpu::loss_cause_name(gpu::LossCause::kUnavailable));
  if (since_ns != 0) {
    const std::uint64_t unit = model::nanoseconds_per_unit(settings.time_metric);
    const auto wall = static_cast<std::uint64_t>(settings.wall_minus_monotonic_ns);
    args.add_uint64("first_ts", (since_ns + wall) / unit);
    args.add_uint64("last_ts", (base::monotonic_ns() + wall) / unit);
  }
  args.add_string("detail", why);
  record::emit_metadata(record::site_id(model::kLoss, model::kCategoryDftracer, layer_), args);
}

void VendorPart::append_choice(encode::JsonWriter& json) const {
  static constexpr const char* kApi[] = {"quiet", "all", "none"};
  static constexpr const char* kNames[] = {"full", "short", "mangled"};
  json.key("on").flag(is_on());
  json.key("api").string(kApi[static_cast<unsigned>(settings.api)]);
  json.key("kernel_names").string(kNames[static_cast<unsigned>(settings.kernel_names)]);
  json.key("exit_timeout_ms").number(settings.exit_timeout_ns / 1'000'000);
}

void VendorPart::append_counts(const gpu::Backend& backend, encode::JsonWriter& json) const {
  const gpu::Summary summary = source().summary();
  json.key("records").begin_object();
  for (unsigned kind = 0; kind < gpu::kActivityKinds; ++kind) {
    const std::uint64_t count = summary.counts.records[kind];
    if (count != 0) json.key(backend.category(static_cast<gpu::ActivityKind>(kind))).number(count);
  }
  for (unsigned kind = 0; kind < gpu::kNamedKinds; ++kind) {
    const std::uint64_t count = summary.counts.named[kind];
    if (count != 0) json.key(backend.named_category(kind)).number(count);
  }
  json.end_object().key("clock_suspect").begin_object();
  for (unsigned i = 1; i < gpu::kSuspects; ++i) {
    const std::uint64_t count = summary.counts.suspects[i];
    if (count != 0) json.key(gpu::suspect_name(static_cast<gpu::Suspect>(i))).number(count);
  }
  json.end_object().key("buffers").number(std::uint64_t{summary.buffers});
  json.key("buffer_bytes").number(std::uint64_t{summary.buffer_bytes});
}

}  // namespace dft::session
