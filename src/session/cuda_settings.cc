// SPDX-License-Identifier: MIT
// What the user chose about tracing NVIDIA GPUs: from the configuration to the source, and into the event `end`.
#include <string_view>
#include <vector>

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

bool is_wanted(const config::Options& config) { return config.cuda && config.init != config::InitMode::kNone; }

void choose_ranges(const config::Options& config) {
  const bool marker = (categories_of(config) >> static_cast<unsigned>(gpu::ActivityKind::kMarker) & 1u) != 0;
  gpu::nvtx::record_ranges(config.cuda && config.nvtx && marker);
}

void fill_settings(const config::Options& config, int pid) {
  part.fill_settings(config, pid);
  gpu::Settings& settings = part.settings;
  settings.categories = categories_of(config);
  settings.api = same_place<gpu::ApiMode>(config.cuda_api);
  settings.graph = same_place<gpu::GraphMode>(config.cuda_graph);
  settings.kernel_names = same_place<gpu::KernelNames>(config.cuda_kernel_names);
  settings.buffer_size = config.cuda_buffer_size;
  settings.buffer_limit = config.cuda_buffer_limit;
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
