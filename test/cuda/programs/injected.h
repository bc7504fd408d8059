// SPDX-License-Identifier: MIT
// Purpose: what the libraries share that the CUDA driver loads by itself (bare_cupti.cc, record_cupti.cc): CUPTI is
// opened,
//          not linked, its subscription held, and kinds enabled, unified memory at the first context.
// Threads: the driver's, on the way into its first call; kinds are enabled in callbacks too.
#pragma once

#include <cupti.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace injected {

inline void* cupti = nullptr;
inline CUpti_SubscriberHandle subscriber = nullptr;

template <typename F>
F* call(F*, const char* name) {
  void* found = dlsym(cupti, name);
  if (found == nullptr) {
    std::fprintf(stderr, "this CUPTI has no %s\n", name);
    std::abort();
  }
  return reinterpret_cast<F*>(found);
}
// The declaration gives the type.
#define CUPTI(name) injected::call(static_cast<decltype(name)*>(nullptr), #name)

using Enabled = void (*)(std::uint32_t kind, CUptiResult result);
inline Enabled enabled = nullptr;  // is told of each; null: nobody

inline void enable(std::uint32_t kind) {
  const CUptiResult result = CUPTI(cuptiActivityEnable)(static_cast<CUpti_ActivityKind>(kind));
  if (enabled != nullptr) enabled(kind, result);
  if (result != CUPTI_SUCCESS) std::fprintf(stderr, "kind %u gives %d\n", kind, static_cast<int>(result));
}

// A context was made: until then unified memory is not ready.
inline void on_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {
  CUpti_ActivityUnifiedMemoryCounterConfig configs[8] = {};
  for (int i = 0; i < 8; ++i) {
    configs[i].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES;
    configs[i].kind = static_cast<CUpti_ActivityUnifiedMemoryCounterKind>(i + 1);
    configs[i].enable = 1;
  }
  CUPTI(cuptiActivityConfigureUnifiedMemoryCounter)(configs, 8);
  enable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

// False, with a line on stderr: there is no CUPTI, or another client has it. `chosen`: the libcupti to use, or null.
inline bool subscribe(const char* chosen) {
  for (const char* name : {chosen != nullptr ? chosen : "libcupti.so", "libcupti.so.13", "libcupti.so.12"}) {
    if (cupti == nullptr) cupti = dlopen(name, RTLD_NOW);
  }
  if (cupti == nullptr) {
    std::fprintf(stderr, "no CUPTI: %s\n", dlerror());
    return false;
  }
  const auto callback = reinterpret_cast<CUpti_CallbackFunc>(&on_callback);
  const bool is_ours = CUPTI(cuptiSubscribe)(&subscriber, callback, nullptr) == CUPTI_SUCCESS;
  if (!is_ours) std::fprintf(stderr, "CUPTI is taken\n");
  return is_ours;
}

// `kinds`: numbers separated by commas.
inline void start(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete,
                  const char* kinds) {
  CUPTI(cuptiSetThreadIdType)(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  CUPTI(cuptiActivityRegisterCallbacks)(request, complete);
  for (const char* at = kinds; at != nullptr;) {
    enable(static_cast<std::uint32_t>(std::strtoul(at, nullptr, 10)));
    at = std::strchr(at, ',');
    if (at != nullptr) ++at;
  }
  CUPTI(cuptiEnableCallback)(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
}

}  // namespace injected
