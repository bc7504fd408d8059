// SPDX-License-Identifier: MIT
#include "sources/gpu/cupti/api_names.h"

#include <cstring>

namespace dft::gpu::cupti {

namespace {

constexpr std::string_view kQuietRuntime[] = {"cudaGetDevice",
                                              "cudaSetDevice",
                                              "cudaGetLastError",
                                              "cudaPeekAtLastError",
                                              "cudaGetDeviceCount",
                                              "cudaDeviceGetAttribute",
                                              "cudaFuncGetAttributes",
                                              "cudaPointerGetAttributes",
                                              "cudaEventQuery",
                                              "cudaStreamIsCapturing",
                                              "cudaStreamGetPriority",
                                              "__cudaUnregisterFatBinary",
                                              "__cudaInitModule",
                                              "__cudaPushCallConfiguration",
                                              "__cudaPopCallConfiguration",
                                              "__cudaGetKernel",
                                              "__cudaGetProcAddress"};
// What begins so. Never "__cuda" alone: the launch itself is __cudaLaunchKernel from 13 on.
constexpr std::string_view kQuietRuntimePrefixes[] = {"cudaGetDeviceProperties", "cudaStreamGetCaptureInfo",
                                                      "cudaOccupancy", "cudaGetDriverEntryPoint", "__cudaRegister"};

// CUPTI 13 itself calls it at every launch.
constexpr std::string_view kByCupti = "cuKernelGetName";

// In quiet mode only driver calls that do work are recorded.
constexpr std::string_view kLoudDriver[] = {"cuGraphLaunch",         "cuStreamWaitEvent", "cuCtxCreate",
                                            "cuCtxDestroy",          "cuStreamCreate",    "cuStreamDestroy",
                                            "cuEventCreate",         "cuEventRecord",     "cuStreamCreateWithPriority",
                                            "cuEventRecordWithFlags"};
constexpr std::string_view kLoudDriverPrefixes[] = {"cuLaunch", "cuMem", "cuModuleLoad", "cuLibraryLoad"};
bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// _v2, _v11000 and the like.
std::string_view without_version(std::string_view name) {
  std::size_t at = name.size();
  while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
  if (at == name.size() || at < 3 || name[at - 1] != 'v' || name[at - 2] != '_') return name;
  return name.substr(0, at - 2);
}

// Without _ptsz, _ptds and version suffixes in any order.
std::string_view bare(std::string_view name) {
  for (;;) {
    std::string_view shorter = without_version(name);
    if (ends_with(shorter, "_ptsz") || ends_with(shorter, "_ptds")) shorter = shorter.substr(0, shorter.size() - 5);
    if (shorter.size() == name.size()) return name;
    name = shorter;
  }
}

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&names)[N]) {
  for (const std::string_view known : names) {
    if (name == known) return true;
  }
  return false;
}

template <std::size_t N>
bool begins_with_one_of(std::string_view name, const std::string_view (&prefixes)[N]) {
  for (const std::string_view prefix : prefixes) {
    if (starts_with(name, prefix)) return true;
  }
  return false;
}

}  // namespace

std::string_view without_release_suffix(std::string_view name) {
  const std::string_view shorter = without_version(name);
  // A release has at least four digits (3020, 11000); _v2 is part of a name.
  return name.size() - shorter.size() >= 6 ? shorter : name;
}

bool is_quiet_runtime_call(std::string_view name) {
  const std::string_view plain = bare(name);
  return is_one_of(plain, kQuietRuntime) || begins_with_one_of(plain, kQuietRuntimePrefixes);
}

bool is_quiet_driver_call(std::string_view name) {
  const std::string_view plain = bare(name);
  return !(is_one_of(plain, kLoudDriver) || begins_with_one_of(plain, kLoudDriverPrefixes) ||
           ends_with(plain, "Synchronize"));
}

const char* quiet_list() {
  return "runtime queries (cudaGetDevice, cudaSetDevice, cudaGetLastError, cudaPeekAtLastError, cudaGetDeviceCount, "
         "cudaGetDeviceProperties*, cudaDeviceGetAttribute, cudaFuncGetAttributes, cudaPointerGetAttributes, "
         "cudaEventQuery, cudaStreamIsCapturing, cudaStreamGetCaptureInfo*, cudaStreamGetPriority, cudaOccupancy*, "
         "cudaGetDriverEntryPoint*, the runtime's own __cuda* calls but launches); driver calls but cuLaunch*, "
         "cuGraphLaunch, cuMem*, *Synchronize, cuStreamWaitEvent, cuModuleLoad*, cuLibraryLoad*, and those that make "
         "or end contexts, streams and events; DFTRACER_CUDA_API=all records them";
}

void ApiNames::configure(Signature_cuptiGetCallbackName look_up, ApiMode mode) {
  look_up_ = look_up;
  configure_domain(ActivityKind::kRuntimeApi, mode);
  configure_domain(ActivityKind::kDriverApi, mode);
}

void ApiNames::configure_domain(ActivityKind kind, ApiMode mode) {
  const unsigned which = index(kind);
  std::memset(left_out_[which], mode == ApiMode::kNone ? 0xff : 0, sizeof left_out_[which]);
  count_[which] = 0;
  for (std::uint32_t id = 1; id < kOperations; ++id) {
    const std::string_view known = name(kind, id);
    if (known.empty()) continue;
    count_[which] = id + 1;
    const bool quiet = kind == ActivityKind::kRuntimeApi ? is_quiet_runtime_call(known) : is_quiet_driver_call(known);
    if ((mode == ApiMode::kQuiet && quiet) || known == kByCupti)
      left_out_[which][id / 64] |= std::uint64_t{1} << (id % 64);
  }
}

std::string_view ApiNames::name(ActivityKind kind, unsigned id) const {
  const char* text = nullptr;
  const auto domain = kind == ActivityKind::kRuntimeApi ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
  if (look_up_ == nullptr || look_up_(domain, id, &text) != CUPTI_SUCCESS || text == nullptr) return {};
  return kind == ActivityKind::kRuntimeApi ? without_release_suffix(text) : std::string_view(text);
}

}  // namespace dft::gpu::cupti
