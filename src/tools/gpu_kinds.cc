// SPDX-License-Identifier: MIT
#include "tools/gpu_kinds.h"

namespace dft::tools {

GpuKind gpu_kind_of(const read::Event& event) {
  struct Row {
    std::string_view cat;
    GpuKind kind;
  };
  static constexpr Row kCuda[] = {{"CUDA_KERNEL", GpuKind::kKernel},   {"CUDA_MEMCPY", GpuKind::kCopy},
                                  {"CUDA_MEMCPY_P2P", GpuKind::kCopy}, {"CUDA_MEMSET", GpuKind::kMemset},
                                  {"CUDA_GRAPH", GpuKind::kGraph},     {"CUDA_SYNC", GpuKind::kSync},
                                  {"CUDA_RUNTIME_API", GpuKind::kApi}, {"CUDA_DRIVER_API", GpuKind::kApi}};
  static constexpr Row kHip[] = {{"KERNEL_DISPATCH", GpuKind::kKernel},
                                 {"MEMORY_COPY", GpuKind::kCopy},
                                 {"HIP_RUNTIME_API", GpuKind::kApi},
                                 {"HIP_RUNTIME_API_EXT", GpuKind::kApi}};
  if (event.type == static_cast<int>(model::Layer::kCuda)) {
    for (const Row& row : kCuda) {
      if (row.cat == event.cat) return row.kind;
    }
  } else {
    for (const Row& row : kHip) {
      if (row.cat == event.cat) return row.kind;
    }
  }
  return GpuKind::kOther;
}

std::string copy_direction(std::string_view name) {
  constexpr std::string_view kCuda = "Memcpy";
  if (name.substr(0, kCuda.size()) == kCuda) return std::string(name.substr(kCuda.size()));
  const auto end_of = [&](std::string_view word) -> char {
    return word == "HOST" ? 'H' : word == "DEVICE" ? 'D' : word == "PEER" ? 'P' : '\0';
  };
  const std::size_t middle = name.find("_TO_");
  if (middle == std::string_view::npos) return std::string(name);
  const std::string_view from = name.substr(0, middle);
  const std::size_t word = from.rfind('_');
  const char source = end_of(word == std::string_view::npos ? from : from.substr(word + 1));
  const char target = end_of(name.substr(middle + 4));
  return source == '\0' || target == '\0' ? std::string(name) : std::string{source, 't', 'o', target};
}

std::string_view host_memory(std::int64_t kind) {
  switch (kind) {
    case 1: return "pageable";
    case 2: return "pinned";
    case 5:
    case 7: return "managed";
    default: return "";
  }
}

}  // namespace dft::tools
