// SPDX-License-Identifier: MIT
// Purpose: the controls of the stand-in for rocprofiler-sdk, and what the tests play on it.
#pragma once

#include <dlfcn.h>

#include "gpu_replay.h"
#include "sources/gpu/rocprof/backend.h"
#include "standin/standin.h"

namespace dft::gpu {

// A release of the library: the stand-in's file and the words that make it that release.
struct SdkRelease {
  const char* name;
  const char* file;
  const char* words;
};
inline constexpr SdkRelease kSdk04 = {"04", DFT_SDK_0, "version=0.4.0"};
inline constexpr SdkRelease kSdk05 = {"05", DFT_SDK_0, "version=0.5.0"};
inline constexpr SdkRelease kSdk06 = {"06", DFT_SDK_0, "version=0.6.0"};
inline constexpr SdkRelease kSdk10 = {"10", DFT_SDK_1, "version=1.0.0"};
inline constexpr SdkRelease kSdk13 = {"13", DFT_SDK_1, "version=1.3.0 uuid16=1 scratch_bytes=1"};
inline void PrintTo(const SdkRelease& release, std::ostream* out) { *out << release.name; }

inline standin::Sdk& sdk_of(const SdkRelease& release) {
  void* library = dlopen(release.file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::abort();
  return *reinterpret_cast<standin::Sdk* (*)()>(dlsym(library, "dft_hip_standin"))();
}
inline const void* code_of(const SdkRelease& release) {
  return dlsym(dlopen(release.file, RTLD_NOW | RTLD_LOCAL), "rocprofiler_get_version");
}

// The process's one is never destroyed either; a test has one of its own.
inline rocprof::RocprofBackend* new_backend() {
  static auto* all = new std::vector<rocprof::RocprofBackend*>;
  return all->emplace_back(new rocprof::RocprofBackend);
}

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kMicro = 1000;

// One record of each kind, with fixed times from `at` on; each of the next microseconds has its own.
inline void play_everything(standin::Sdk& sdk, std::uint64_t at) {
  using standin::Event;
  const auto send = [&](const char* kind, const char* operation, auto fill) {
    Event e;
    e.kind = kind;
    e.operation = operation;
    e.begin = at += 10 * kMicro;
    e.end = at + 4 * kMicro + 321;
    e.thread = 4243;
    fill(e);
    sdk.emit(e);
  };
  sdk.symbol(true, 7, "_ZN5train5scaleIfEEvPT_i.kd");
  const auto call = [](std::uint64_t id, std::uint64_t ancestor = 0) {
    return [id, ancestor](Event& e) { e.internal = id, e.ancestor = ancestor; };
  };
  send("HIP_RUNTIME_API", "hipMalloc", call(20));
  send("HIP_RUNTIME_API", "hipGetDevice", call(21));
  send("HIP_RUNTIME_API", "hipModuleLaunchKernel", call(22));
  send("HIP_RUNTIME_API_EXT", "hipMalloc", [](Event& e) { e.internal = 20, e.result = 2; });  // out of memory
  send("HIP_COMPILER_API", "__hipRegisterFatBinary", call(23));
  send("HSA_CORE_API", "hsa_queue_create", call(24, 20));
  send("HSA_CORE_API", "hsa_agent_get_info", call(25, 20));
  send("HSA_AMD_EXT_API", "hsa_amd_memory_pool_allocate", call(26, 20));
  send("RCCL_API", "ncclAllReduce", call(27));
  send("KERNEL_DISPATCH", "KERNEL_DISPATCH_COMPLETE", [](Event& e) {
    e.internal = 22;
    e.agent = standin::kGpuAgent, e.queue = 3, e.kernel = 7, e.dispatch = 1;
    e.private_segment = 16, e.group_segment = 1024;
    e.workgroup[0] = 256, e.grid[0] = 65536, e.grid[1] = 2;
  });
  send("KERNEL_DISPATCH", "KERNEL_DISPATCH_COMPLETE", [](Event& e) {  // no symbol ever comes
    e.internal = 22, e.agent = standin::kOtherGpuAgent, e.queue = 4, e.kernel = 99, e.dispatch = 2;
  });
  send("MEMORY_COPY", "MEMORY_COPY_HOST_TO_DEVICE", [](Event& e) {
    e.internal = 28, e.bytes = 4096;
    e.src_agent = standin::kCpuAgent, e.dst_agent = standin::kGpuAgent, e.src_address = 0x1000, e.dst_address = 0x2000;
  });
  send("MEMORY_ALLOCATION", "MEMORY_ALLOCATION_ALLOCATE",
       [](Event& e) { e.internal = 20, e.agent = standin::kGpuAgent, e.address = 0x2000, e.bytes = 1 << 20; });
  send("SCRATCH_MEMORY", "SCRATCH_MEMORY_ALLOC",
       [](Event& e) { e.internal = 22, e.agent = standin::kGpuAgent, e.queue = 3, e.flags = 1, e.bytes = 8192; });
  const auto migration = [](Event& e) {
    e.pid = 4242, e.start_address = 0x10000, e.end_address = 0x20000, e.trigger = 1, e.error = -5, e.count = 9;
    e.src_agent = e.agent = standin::kGpuAgent, e.dst_agent = standin::kCpuAgent;
    e.prefetch_agent = standin::kGpuAgent, e.preferred_agent = standin::kOtherGpuAgent;
    e.address = 0x30000, e.read_fault = true, e.rescheduled = true;
  };
  const char* const up_to_06[] = {"PAGE_MIGRATE",     "PAGE_FAULT",         "QUEUE_SUSPEND",    "UNMAP_FROM_GPU",
                                  "PAGE_MIGRATE_END", "PAGE_MIGRATE_START", "PAGE_FAULT_START", "PAGE_FAULT_END",
                                  "QUEUE_EVICTION",   "QUEUE_RESTORE",      "DROPPED_EVENT"};
  for (const char* operation : up_to_06) {
    const std::string name = std::string("PAGE_MIGRATION_") + operation;
    if (sdk.has("PAGE_MIGRATION", name.c_str())) send("PAGE_MIGRATION", name.c_str(), migration);
  }
  const char* const of_kfd[][2] = {{"PAGE_MIGRATE", "PAGE_MIGRATE_PREFETCH"},
                                   {"PAGE_FAULT", "PAGE_FAULT_START_READ_FAULT"},
                                   {"QUEUE", "QUEUE_EVICT_SVM"},
                                   {"UNMAP_FROM_GPU", "UNMAP_FROM_GPU_MMU_NOTIFY"},
                                   {"DROPPED_EVENTS", "DROPPED_EVENTS"}};
  for (const auto& [kind, operation] : of_kfd) {
    const std::string kind_name = std::string("KFD_EVENT_") + kind;
    send(kind_name.c_str(), (std::string("ROCPROFILER_KFD_EVENT_") + operation).c_str(), migration);
  }
}

}  // namespace dft::gpu
