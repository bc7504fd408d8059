// SPDX-License-Identifier: MIT
// The limit that tracing is measured against: CUPTI with the same kinds as the tracer and a completion callback that
// only keeps the buffer for the next request. A library that the CUDA driver loads by itself:
//   CUDA_INJECTION64_PATH=$PWD/libbare_cupti.so PROGRAM
// BARE_KINDS: kinds, separated by commas; BARE_CUPTI: the libcupti to use; BARE_COUNT=1: says how many buffers came.
#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

struct State {
  void* cupti = nullptr;
  CUpti_SubscriberHandle subscriber = nullptr;
  std::mutex lock;
  std::vector<std::uint8_t*> free_buffers;
  std::atomic<unsigned> completed{0};
};
State& state() {
  static State* one = new State;
  return *one;
}

template <typename F>
F* call(F*, const char* name) {
  return reinterpret_cast<F*>(dlsym(state().cupti, name));
}
#define CUPTI(name) call(static_cast<decltype(name)*>(nullptr), #name)

void request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  State& s = state();
  const std::lock_guard<std::mutex> guard(s.lock);
  if (s.free_buffers.empty()) {
    *buffer = static_cast<std::uint8_t*>(std::malloc(kBufferBytes));
  } else {
    *buffer = s.free_buffers.back();
    s.free_buffers.pop_back();
  }
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *most = 0;
}

void complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
  State& s = state();
  s.completed.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard<std::mutex> guard(s.lock);
  s.free_buffers.push_back(buffer);
}

void enable(std::uint32_t kind) {
  const CUptiResult result = CUPTI(cuptiActivityEnable)(static_cast<CUpti_ActivityKind>(kind));
  if (result != CUPTI_SUCCESS) std::fprintf(stderr, "bare_cupti: kind %u gives %d\n", kind, static_cast<int>(result));
}

void on_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {
  CUpti_ActivityUnifiedMemoryCounterConfig configs[8] = {};
  for (int i = 0; i < 8; ++i) {
    configs[i].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES;
    configs[i].kind = static_cast<CUpti_ActivityUnifiedMemoryCounterKind>(i + 1);
    configs[i].enable = 1;
  }
  CUPTI(cuptiActivityConfigureUnifiedMemoryCounter)(configs, 8);
  enable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

void at_exit() {
  CUPTI(cuptiActivityFlushAll)(0);
  CUPTI(cuptiActivityFlushAll)(1);
  if (std::getenv("BARE_COUNT") != nullptr) std::fprintf(stderr, "bare_cupti: %u buffers\n", state().completed.load());
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  State& s = state();
  const char* chosen = std::getenv("BARE_CUPTI");
  for (const char* name : {chosen != nullptr ? chosen : "libcupti.so", "libcupti.so.13", "libcupti.so.12"}) {
    if (s.cupti == nullptr) s.cupti = dlopen(name, RTLD_NOW);
  }
  if (s.cupti == nullptr || CUPTI(cuptiSubscribe)(&s.subscriber, reinterpret_cast<CUpti_CallbackFunc>(&on_callback),
                                                  nullptr) != CUPTI_SUCCESS) {
    std::fprintf(stderr, "bare_cupti: no CUPTI, or it is taken\n");
    std::_Exit(3);  // a measurement of nothing must not look like one
  }
  CUPTI(cuptiSetThreadIdType)(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  CUPTI(cuptiActivityRegisterCallbacks)(&request, &complete);
  const char* kinds = std::getenv("BARE_KINDS");
  for (const char* at = kinds != nullptr ? kinds : "10,1,22,2,49,50,38,17,5,4,51,8,9,37"; at != nullptr;) {
    enable(static_cast<std::uint32_t>(std::strtoul(at, nullptr, 10)));
    at = std::strchr(at, ',');
    if (at != nullptr) ++at;
  }
  CUPTI(cuptiEnableCallback)(1, s.subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  std::atexit(at_exit);
  return 1;
}
