// SPDX-License-Identifier: MIT
// What the user chose about tracing NVIDIA GPUs: from the configuration to the source, and into the event `end`.
#include <algorithm>
#include <string>
#include <string_view>

#include "base/log.h"
#include "encode/json_writer.h"
#include "session/cuda.h"
#include "session/cuda_part.h"
#include "sources/gpu/cupti/backend.h"
#include "sources/gpu/gpu_source.h"
#include "sources/gpu/nvtx.h"

namespace dft::session::cuda {

using encode::JsonWriter;

namespace {

template <typename To, typename From>
To same_place(From value) {
  return static_cast<To>(value);
}

bool ranges = false;  // those of NVTX are recorded

// Once: the configuration is read once, and what is wrong in it is said once.
std::uint32_t categories_of(const config::Options& config) {
  static bool known = false;
  static std::uint32_t bits = 0;
  if (known) return bits;
  known = true;
  std::string unknown;
  for (const std::string& name : category_names(config.cuda_categories)) {
    const std::string_view one = name;
    std::string_view none;
    bits |= gpu::category_bits(gpu::cupti::backend, &one, 1, &none);
    if (!none.empty()) unknown += (unknown.empty() ? "" : ", ") + name;
  }
  const bool none_is_known = bits == 0;
  std::string_view unused;
  if (none_is_known) bits = gpu::category_bits(gpu::cupti::backend, nullptr, 0, &unused);
  if (!unknown.empty()) {
    std::string accepted = "default";
    for (unsigned kind = 0; kind < gpu::kActivityKinds; ++kind) {
      accepted.append(", ").append(gpu::cupti::backend.category(static_cast<gpu::ActivityKind>(kind)));
    }
    tell_unknown_categories("DFTRACER_CUDA_CATEGORIES", unknown, none_is_known, accepted);
  }
  return bits;
}

}  // namespace

bool is_wanted(const config::Options& config) { return config.cuda && config.init != config::InitMode::kNone; }

void choose_ranges(const config::Options& config) {
  const bool marker = (categories_of(config) >> static_cast<unsigned>(gpu::ActivityKind::kMarker) & 1u) != 0;
  ranges = config.cuda && config.nvtx && marker;
  gpu::nvtx::record_ranges(ranges);
}

void fill_settings(const config::Options& config, int pid) {
  part.fill_settings(config, pid);
  gpu::Settings& settings = part.settings;
  settings.categories = categories_of(config);
  settings.api = same_place<gpu::ApiMode>(config.cuda_api);
  settings.graph = same_place<gpu::GraphMode>(config.cuda_graph);
  settings.kernel_names = same_place<gpu::KernelNames>(config.cuda_kernel_names);
  settings.buffer_size = config.cuda_buffer_size;
  settings.buffer_limit = std::max(config.cuda_buffer_limit, 2 * config.cuda_buffer_size);
  if (settings.buffer_limit != config.cuda_buffer_limit) {
    base::LogLine() << "DFTRACER_CUDA_BUFFER_LIMIT is less than two buffers (DFTRACER_CUDA_BUFFER_SIZE): two are used";
  }
  settings.vendor_library = config.cupti_path.empty() ? nullptr : config.cupti_path.c_str();
  settings.cuda_home = config::process_environment("CUDA_HOME");
  others.yields = config.cuda_yield;
}

void append_choice(base::Buffer& out) {
  static constexpr const char* kGraph[] = {"graph", "node"};
  JsonWriter json(out);
  json.key("cuda").begin_object();
  part.append_choice(json);
  json.key("graph").string(kGraph[static_cast<unsigned>(part.settings.graph)]);
  json.key("yield").flag(others.yields);
  json.key("nvtx").flag(ranges);
  json.key("buffer_size").number(std::uint64_t{part.settings.buffer_size});
  json.key("buffer_limit").number(std::uint64_t{part.settings.buffer_limit});
  json.key("categories").begin_object();
  for (unsigned kind = 0; kind < gpu::kActivityKinds; ++kind) {
    const auto known = static_cast<gpu::ActivityKind>(kind);
    json.key(gpu::cupti::backend.category(known)).flag(part.settings.wants(known));
  }
  json.end_object().end_object();
}

}  // namespace dft::session::cuda
