// SPDX-License-Identifier: MIT
// What the user chose about tracing AMD GPUs: from the configuration to the source, and into the event `end`.
#include <string>
#include <string_view>

#include "encode/json_writer.h"
#include "session/hip.h"
#include "session/hip_part.h"
#include "session/session_state.h"
#include "sources/gpu/rocprof/backend.h"

namespace dft::session::hip {

using encode::JsonWriter;

namespace {

// Once: the configuration is read once, and what is wrong in it is said once.
std::uint32_t kinds_of(const config::Options& config) {
  static bool known = false;
  static std::uint32_t bits = 0;
  if (known) return bits;
  known = true;
  std::string unknown;
  for (const std::string& name : category_names(config.hip_categories)) {
    const std::string_view one = name;
    std::string_view none;
    bits |= gpu::rocprof::kind_bits(&one, 1, &none);
    if (!none.empty()) unknown += (unknown.empty() ? "" : ", ") + name;
  }
  const bool none_is_known = bits == 0;
  std::string_view unused;
  if (none_is_known) bits = gpu::rocprof::kind_bits(nullptr, 0, &unused);
  if (!unknown.empty()) {
    std::string accepted = "default, all";
    for (const gpu::rocprof::KindRow& row : gpu::rocprof::kKindRows) accepted.append(", ").append(row.name);
    tell_unknown_categories("DFTRACER_HIP_CATEGORIES", unknown, none_is_known, accepted);
  }
  return bits;
}

}  // namespace

bool is_wanted(const config::Options& config) {
  return config.enable && config.hip && config.init != config::InitMode::kNone;
}

const config::Options* wanted_options() {
  const base::SignalGuard signals;
  const base::LockGuard guard(state.lock);
  const config::Options* config = configured_options();
  return config != nullptr && is_wanted(*config) ? config : nullptr;
}

void fill_settings(const config::Options& config, int pid) {
  part.fill_settings(config, pid);
  gpu::Settings& settings = part.settings;
  settings.categories = kinds_of(config);
  settings.api = static_cast<gpu::ApiMode>(config.hip_api);
  settings.kernel_names = static_cast<gpu::KernelNames>(config.hip_kernel_names);
}

void append_choice(base::Buffer& out) {
  JsonWriter json(out);
  json.key("hip").begin_object();
  part.append_choice(json);
  json.key("categories").begin_object();
  for (unsigned kind = 0; kind < gpu::rocprof::kKinds; ++kind) {
    json.key(gpu::rocprof::kKindRows[kind].name).flag((part.settings.categories >> kind & 1u) != 0);
  }
  json.end_object().end_object();
}

void add_losses(std::uint64_t* counts) {
  const gpu::Summary summary = part.source().summary();
  for (unsigned i = 0; i < gpu::kLossCauses; ++i) counts[i] += summary.counts.losses[i];
}

void append_summary(base::Buffer& out) {
  if (!part.source().summary().started) return;
  const gpu::rocprof::Library& library = gpu::rocprof::backend.opened();
  JsonWriter json(out);
  json.key("gpu_hip").begin_object().key("backend").string(gpu::rocprof::backend.name());
  json.key("library").string(library.path).key("library_version").number(std::uint64_t{library.release});
  part.append_counts(gpu::rocprof::backend, json);
  json.end_object();
}

}  // namespace dft::session::hip
