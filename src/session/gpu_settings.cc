// SPDX-License-Identifier: MIT
// What the user chose about GPU tracing: from the configuration to the source, and into the event `end`.
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "encode/json_writer.h"
#include "session/gpu.h"
#include "session/gpu_part.h"
#include "sources/gpu/cupti/backend.h"
#include "sources/gpu/gpu_source.h"
#include "sources/gpu/nvtx.h"
#include "sources/io/io_source.h"

namespace dft::session {

using encode::JsonWriter;

namespace {

template <typename To, typename From>
To same_place(From value) {
  return static_cast<To>(value);
}

// Once: the configuration is read once, and what is wrong in it is said once.
std::uint32_t categories_of(const config::Options& config) {
  static bool known = false;
  static std::uint32_t bits = 0;
  if (known) return bits;
  known = true;
  const std::vector<std::string_view> names(config.cuda_categories.begin(), config.cuda_categories.end());
  std::string_view unknown;
  bits = gpu::category_bits(gpu::cupti::backend, names.data(), names.size(), &unknown);
  if (!unknown.empty()) {
    base::LogLine() << "DFTRACER_CUDA_CATEGORIES: there is no category " << unknown
                    << ": CUDA_KERNEL and the others stand in docs/gpu.md; it is left out";
  }
  return bits;
}

}  // namespace

bool gpu_is_wanted(const config::Options& config) { return config.cuda && config.init != config::InitMode::kNone; }

void choose_ranges(const config::Options& config) {
  const bool marker = (categories_of(config) >> static_cast<unsigned>(gpu::ActivityKind::kMarker) & 1u) != 0;
  gpu::nvtx::record_ranges(config.cuda && config.nvtx && marker);
}

void fill_gpu_settings(const config::Options& config, int pid) {
  gpu::Settings& settings = gpu_part.settings;
  settings = gpu::Settings();
  settings.categories = categories_of(config);
  settings.api = same_place<gpu::ApiMode>(config.cuda_api);
  settings.graph = same_place<gpu::GraphMode>(config.cuda_graph);
  settings.kernel_names = same_place<gpu::KernelNames>(config.cuda_kernel_names);
  settings.buffer_size = config.cuda_buffer_size;
  settings.buffer_limit = config.cuda_buffer_limit;
  settings.flush_interval_ns = config.flush_interval_ms * 1'000'000;
  settings.exit_timeout_ns = config.gpu_exit_timeout_ms * 1'000'000;
  settings.time_metric = same_place<model::TimeMetric>(config.time_metric);
  settings.wall_minus_monotonic_ns = base::realtime_minus_monotonic_ns();
  settings.pid = pid;
  settings.vendor_library = config.cupti_path.empty() ? nullptr : config.cupti_path.c_str();
  settings.cuda_home = config::process_environment("CUDA_HOME");
  settings.thread_begins = io::pause_io;
  gpu_part.yields = config.cuda_yield;
}
static_assert(static_cast<int>(config::GpuApi::kNone) == static_cast<int>(gpu::ApiMode::kNone) &&
              static_cast<int>(config::CudaGraph::kNode) == static_cast<int>(gpu::GraphMode::kNode) &&
              static_cast<int>(config::KernelNames::kMangled) == static_cast<int>(gpu::KernelNames::kMangled));

void append_gpu_choice(base::Buffer& out) {
  JsonWriter json(out);
  const bool on = gpu_part.want.load(std::memory_order_acquire) != Want::kNothing || gpu::gpu_source.summary().started;
  json.key("cuda").begin_object().key("on").flag(on);
  static constexpr const char* kApi[] = {"quiet", "all", "none"};
  static constexpr const char* kGraph[] = {"graph", "node"};
  static constexpr const char* kNames[] = {"full", "short", "mangled"};
  json.key("api").string(kApi[static_cast<unsigned>(gpu_part.settings.api)]);
  json.key("graph").string(kGraph[static_cast<unsigned>(gpu_part.settings.graph)]);
  json.key("yield").flag(gpu_part.yields);
  json.key("kernel_names").string(kNames[static_cast<unsigned>(gpu_part.settings.kernel_names)]);
  json.key("buffer_size").number(std::uint64_t{gpu_part.settings.buffer_size});
  json.key("buffer_limit").number(std::uint64_t{gpu_part.settings.buffer_limit});
  json.key("categories").begin_object();
  for (unsigned kind = 0; kind < gpu::kActivityKinds; ++kind) {
    const auto known = static_cast<gpu::ActivityKind>(kind);
    json.key(gpu::cupti::backend.category(known)).flag(gpu_part.settings.wants(known));
  }
  json.end_object().end_object();
}

}  // namespace dft::session
