// SPDX-License-Identifier: MIT
// The program of the CTest test_cuda_tracing: everything that CUDA tracing records, inside the region CUDA_WORKLOAD and
// checked for its results. Needs no nvcc; exit status 77 without a device.
//   workload [libcudart [late]]   late: the tracer is initialised when CUDA has long been in use
#include <dftracer/dftracer.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "driver.h"
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAS_NVTX 1
#endif

namespace {

constexpr int kCount = 1 << 18;  // floats
constexpr std::size_t kBytes = kCount * sizeof(float);
constexpr int kThreads = 4, kLaunchesOfThread = 100;
constexpr int kGraphNodes = 5, kGraphLaunches = 4;

struct Kernels {
  CUmodule module;
  CUfunction scale, nothing;
};

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::exit(1);
}

void launch_scale(const Kernels& kernels, CUdeviceptr on, CUstream stream) {
  int count = kCount;
  void* arguments[] = {&on, &count};
  CHECK(CU(cuLaunchKernel)(kernels.scale, kCount / 256, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
}

void copies(const Kernels& kernels, CUstream stream) {
  std::vector<float> host(kCount, 1.0f);
  CUdeviceptr a, b;
  CHECK(CU(cuMemAlloc)(&a, kBytes));
  CHECK(CU(cuMemAlloc)(&b, kBytes));
  CUdeviceptr refused;
  require(CU(cuMemAlloc)(&refused, std::size_t{1} << 50) != CUDA_SUCCESS, "a petabyte was given");
  CHECK(CU(cuMemcpyHtoD)(a, host.data(), kBytes));
  CHECK(CU(cuMemcpyDtoD)(b, a, kBytes));
  CHECK(CU(cuMemsetD8)(b, 0, kBytes));
  CHECK(CU(cuStreamSynchronize)(nullptr));  // `stream` does not wait for the default one
  CHECK(CU(cuMemsetD8Async)(b, 0x11, 4096, stream));
  CHECK(CU(cuMemcpyDtoDAsync)(b, a, kBytes, stream));
  for (int i = 0; i < 3; ++i) launch_scale(kernels, b, stream);
  CUevent event;
  CHECK(CU(cuEventCreate)(&event, 0));
  CHECK(CU(cuEventRecord)(event, stream));
  CHECK(CU(cuStreamWaitEvent)(nullptr, event, 0));
  CHECK(CU(cuEventSynchronize)(event));
  CHECK(CU(cuStreamSynchronize)(stream));
  void* pinned;
  CHECK(CU(cuMemHostAlloc)(&pinned, kBytes, 0));
  CHECK(CU(cuMemcpyDtoHAsync)(pinned, b, kBytes, stream));
  CHECK(CU(cuStreamSynchronize)(stream));
  CHECK(CU(cuMemcpyDtoH)(host.data(), b, kBytes));
  require(host[kCount - 1] == 8.0f && static_cast<float*>(pinned)[0] == 8.0f, "copies and kernels");
  CHECK(CU(cuMemFreeHost)(pinned));
  CHECK(CU(cuMemFree)(a));
  CHECK(CU(cuMemFree)(b));
}

void graph(const Kernels& kernels, CUstream stream) {
  CUgraph made;
  CUgraphExec ready;
  CHECK(CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  for (int i = 0; i < kGraphNodes; ++i) {
    CHECK(CU(cuLaunchKernel)(kernels.nothing, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
  }
  CHECK(CU(cuStreamEndCapture)(stream, &made));
  using Instantiate = CUresult (*)(CUgraphExec*, CUgraph, unsigned long long);
  const auto instantiate = reinterpret_cast<Instantiate>(dlsym(driver::library, "cuGraphInstantiateWithFlags"));
  if (instantiate == nullptr) return;  // before 11.4
  CHECK(instantiate(&ready, made, 0));
  for (int i = 0; i < kGraphLaunches; ++i) CHECK(CU(cuGraphLaunch)(ready, stream));
  CHECK(CU(cuStreamSynchronize)(stream));
}

void unified_memory(const Kernels& kernels, CUstream stream) {
  CUdeviceptr managed;
  if (CU(cuMemAllocManaged)(&managed, kBytes, CU_MEM_ATTACH_GLOBAL) != CUDA_SUCCESS) return;
  auto* host = reinterpret_cast<float*>(managed);
  for (int i = 0; i < kCount; ++i) host[i] = 1.0f;
  launch_scale(kernels, managed, stream);
  CHECK(CU(cuCtxSynchronize)());
  float sum = 0;
  for (int i = 0; i < kCount; i += 1024) sum += host[i];
  CHECK(CU(cuMemFree)(managed));
  require(sum == 2.0f * kCount / 1024, "unified memory");
}

void threads(const Kernels& kernels, CUcontext context) {
  std::vector<std::thread> all;
  for (int i = 0; i < kThreads; ++i) {
    all.emplace_back([&kernels, context] {
      CUstream own;
      CHECK(CU(cuCtxSetCurrent)(context));
      CHECK(CU(cuStreamCreate)(&own, CU_STREAM_NON_BLOCKING));
      for (int j = 0; j < kLaunchesOfThread; ++j) {
        CHECK(CU(cuLaunchKernel)(kernels.nothing, 1, 1, 1, 32, 1, 1, 0, own, nullptr, nullptr));
      }
      CHECK(CU(cuStreamSynchronize)(own));
      CHECK(CU(cuStreamDestroy)(own));
    });
  }
  for (std::thread& thread : all) thread.join();
}

// A child that ends each way, while CUDA is up in its parent. CUDA cannot be used in it, traced or not.
void forks() {
  for (const bool quickly : {true, false}) {
    const pid_t child = fork();
    if (child == 0) {
      DFTRACER_C_REGION_START(CHILD);
      DFTRACER_C_REGION_END(CHILD);
      if (quickly) _exit(0);
      std::exit(0);
    }
    int status = -1;
    require(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a forked child");
  }
}

void ranges() {
#ifdef HAS_NVTX
  nvtxRangePushA("outer");
  nvtxRangePushA("inner");
  nvtxMarkA("mark");
  nvtxRangePop();
  nvtxRangePop();
  const nvtxRangeId_t id = nvtxRangeStartA("across");
  nvtxRangeEnd(id);
#endif
}

void runtime(const char* path) {
  void* cudart = dlopen(path, RTLD_NOW);
  if (cudart == nullptr) {
    std::fprintf(stderr, "note: no %s: the runtime API is not called\n", path);
    return;
  }
  const auto get_device = reinterpret_cast<int (*)(int*)>(dlsym(cudart, "cudaGetDevice"));
  const auto allocate = reinterpret_cast<int (*)(void**, std::size_t)>(dlsym(cudart, "cudaMalloc"));
  const auto copy = reinterpret_cast<int (*)(void*, const void*, std::size_t, int)>(dlsym(cudart, "cudaMemcpy"));
  const auto set = reinterpret_cast<int (*)(void*, int, std::size_t)>(dlsym(cudart, "cudaMemset"));
  const auto allocate_async = reinterpret_cast<int (*)(void**, std::size_t, void*)>(dlsym(cudart, "cudaMallocAsync"));
  const auto free_async = reinterpret_cast<int (*)(void*, void*)>(dlsym(cudart, "cudaFreeAsync"));
  const auto synchronize = reinterpret_cast<int (*)()>(dlsym(cudart, "cudaDeviceSynchronize"));
  const auto release = reinterpret_cast<int (*)(void*)>(dlsym(cudart, "cudaFree"));
  int device;
  for (int i = 0; i < 5; ++i) CHECK(get_device(&device));
  void* memory;
  std::vector<char> host(65536, 7);
  CHECK(allocate(&memory, host.size()));
  CHECK(copy(memory, host.data(), host.size(), 1));
  CHECK(set(memory, 9, 100));
  CHECK(copy(host.data(), memory, host.size(), 2));
  require(host[99] == 9 && host[100] == 7, "runtime copies");
  void* pooled;
  if (allocate_async != nullptr && allocate_async(&pooled, 1 << 20, nullptr) == 0) free_async(pooled, nullptr);
  CHECK(synchronize());
  CHECK(release(memory));
}

void work(const char* cudart) {
  DFTRACER_C_REGION_START(CUDA_WORKLOAD);
  const CUcontext context = driver::open_device();
  Kernels kernels;
  CHECK(CU(cuModuleLoadData)(&kernels.module, driver::kPtx));
  CHECK(CU(cuModuleGetFunction)(&kernels.scale, kernels.module, "_ZN5train5scaleIfEEvPT_i"));
  CHECK(CU(cuModuleGetFunction)(&kernels.nothing, kernels.module, "_ZN5train7nothingEv"));
  CUstream stream;
  CHECK(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
  copies(kernels, stream);
  graph(kernels, stream);
  unified_memory(kernels, stream);
  threads(kernels, context);
  ranges();
  forks();
  runtime(cudart);
  CHECK(CU(cuLaunchKernel)(kernels.nothing, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));  // after the forks
  CHECK(CU(cuCtxSynchronize)());
  DFTRACER_C_REGION_END(CUDA_WORKLOAD);
}

// Unrecorded: nobody has initialised the tracer.
void use_cuda() {
  driver::open_device();
  const CUfunction nothing = driver::load(driver::kPtx, "_ZN5train7nothingEv");
  for (int i = 0; i < 100; ++i) {
    CHECK(CU(cuLaunchKernel)(nothing, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
  }
  CHECK(CU(cuCtxSynchronize)());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[2], "late") == 0) use_cuda();
  const auto begin = std::chrono::steady_clock::now();
  DFTRACER_C_INIT(nullptr, nullptr, nullptr);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::fprintf(stderr, "init_ms=%.1f\n", took.count());
  work(argc > 1 ? argv[1] : "libcudart.so");
  DFTRACER_C_FINI();
  return 0;
}
