// SPDX-License-Identifier: MIT
// A little of everything that CUPTI tells about, without nvcc: the driver API with PTX from a string, and the runtime
// API where a libcudart is at hand. Small, since what it makes is committed as a recording.
//   record_workload [libcudart]
#include <cstring>
#include <vector>

#include "driver.h"

namespace {

constexpr int kCount = 1 << 18;

void copies_and_kernels(CUfunction scale, CUfunction nothing, CUstream stream) {
  std::vector<float> host(kCount, 1.0f);
  CUdeviceptr a, b;
  CHECK(CU(cuMemAlloc)(&a, kCount * sizeof(float)));
  CHECK(CU(cuMemAlloc)(&b, kCount * sizeof(float)));
  CUdeviceptr refused;
  CU(cuMemAlloc)(&refused, std::size_t{1} << 50);  // CUDA_ERROR_OUT_OF_MEMORY
  CHECK(CU(cuMemcpyHtoD)(a, host.data(), kCount * sizeof(float)));
  CHECK(CU(cuMemsetD8)(b, 0xab, 4096));
  CHECK(CU(cuMemcpyDtoDAsync)(b, a, kCount * sizeof(float), stream));
  int count = kCount;
  void* arguments[] = {&b, &count};
  CUevent event;
  CHECK(CU(cuEventCreate)(&event, 0));
  for (int i = 0; i < 3; ++i) {
    CHECK(CU(cuLaunchKernel)(scale, kCount / 256, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
    CHECK(CU(cuLaunchKernel)(nothing, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
  }
  CHECK(CU(cuEventRecord)(event, stream));
  CHECK(CU(cuStreamWaitEvent)(nullptr, event, 0));
  CHECK(CU(cuEventSynchronize)(event));
  CHECK(CU(cuStreamSynchronize)(stream));
  CHECK(CU(cuMemcpyDtoH)(host.data(), b, kCount * sizeof(float)));
  CHECK(CU(cuMemFree)(a));
  CHECK(CU(cuMemFree)(b));
  if (host[0] != 8.0f) std::fprintf(stderr, "wrong result: %f\n", static_cast<double>(host[0])), std::exit(1);
}

void graph(CUfunction nothing, CUstream stream) {
  CUgraph made;
  CUgraphExec ready;
  CHECK(CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  for (int i = 0; i < 5; ++i) CHECK(CU(cuLaunchKernel)(nothing, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
  CHECK(CU(cuStreamEndCapture)(stream, &made));
  using Instantiate = CUresult (*)(CUgraphExec*, CUgraph, unsigned long long);
  const auto instantiate = reinterpret_cast<Instantiate>(dlsym(driver::library, "cuGraphInstantiateWithFlags"));
  if (instantiate == nullptr) return;  // before 11.4
  CHECK(instantiate(&ready, made, 0));
  for (int i = 0; i < 4; ++i) CHECK(CU(cuGraphLaunch)(ready, stream));
  CHECK(CU(cuStreamSynchronize)(stream));
}

void managed_memory(CUfunction scale, CUstream stream) {
  CUdeviceptr managed;
  if (CU(cuMemAllocManaged)(&managed, kCount * sizeof(float), CU_MEM_ATTACH_GLOBAL) != CUDA_SUCCESS) return;
  auto* host = reinterpret_cast<float*>(managed);
  for (int i = 0; i < kCount; ++i) host[i] = 1.0f;
  int count = kCount;
  void* arguments[] = {&managed, &count};
  CHECK(CU(cuLaunchKernel)(scale, kCount / 256, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
  CHECK(CU(cuCtxSynchronize)());
  float sum = 0;
  for (int i = 0; i < kCount; i += 1024) sum += host[i];
  CHECK(CU(cuMemFree)(managed));
  if (sum != 2.0f * kCount / 1024) std::exit(1);
}

void runtime(const char* path) {
  void* cudart = dlopen(path, RTLD_NOW);
  if (cudart == nullptr) return;
  const auto get_device = reinterpret_cast<int (*)(int*)>(dlsym(cudart, "cudaGetDevice"));
  const auto allocate = reinterpret_cast<int (*)(void**, std::size_t)>(dlsym(cudart, "cudaMalloc"));
  const auto copy = reinterpret_cast<int (*)(void*, const void*, std::size_t, int)>(dlsym(cudart, "cudaMemcpy"));
  const auto allocate_async = reinterpret_cast<int (*)(void**, std::size_t, void*)>(dlsym(cudart, "cudaMallocAsync"));
  const auto free_async = reinterpret_cast<int (*)(void*, void*)>(dlsym(cudart, "cudaFreeAsync"));
  const auto synchronize = reinterpret_cast<int (*)()>(dlsym(cudart, "cudaDeviceSynchronize"));
  const auto release = reinterpret_cast<int (*)(void*)>(dlsym(cudart, "cudaFree"));
  int device;
  for (int i = 0; i < 5; ++i) CHECK(get_device(&device));
  void* memory;
  std::vector<char> host(65536);
  CHECK(allocate(&memory, host.size()));
  CHECK(copy(memory, host.data(), host.size(), 1));
  CHECK(copy(host.data(), memory, host.size(), 2));
  void* refused;
  allocate(&refused, std::size_t{1} << 50);  // cudaErrorMemoryAllocation
  void* pooled;
  if (allocate_async != nullptr && allocate_async(&pooled, 1 << 20, nullptr) == 0) free_async(pooled, nullptr);
  CHECK(synchronize());
  CHECK(release(memory));
}

}  // namespace

int main(int argc, char** argv) {
  driver::open_device();
  CUmodule module;
  CUfunction scale, nothing;
  CUstream stream;
  CHECK(CU(cuModuleLoadData)(&module, driver::kPtx));
  CHECK(CU(cuModuleGetFunction)(&scale, module, "_ZN5train5scaleIfEEvPT_i"));
  CHECK(CU(cuModuleGetFunction)(&nothing, module, "_ZN5train7nothingEv"));
  CHECK(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
  copies_and_kernels(scale, nothing, stream);
  graph(nothing, stream);
  managed_memory(scale, stream);
  runtime(argc > 1 ? argv[1] : "libcudart.so");
  CHECK(CU(cuCtxSynchronize)());
  return 0;
}
