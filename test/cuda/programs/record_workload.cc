// SPDX-License-Identifier: MIT
// A little of everything that CUPTI tells about, without nvcc: the driver API with PTX from a string, and the runtime
// API where a libcudart is at hand. Small, since what it makes is committed as a recording.
//   record_workload [libcudart]
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

// void train::scale<float>(float*, int): out[i] *= 2; void train::nothing()
const char* const kPtx = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry _ZN5train5scaleIfEEvPT_i(.param .u64 p, .param .u32 n) {
  .reg .pred %q; .reg .b32 %r<6>; .reg .f32 %f<3>; .reg .b64 %d<4>;
  ld.param.u64 %d0, [p];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  setp.ge.s32 %q, %r4, %r0;
  @%q bra DONE;
  cvta.to.global.u64 %d1, %d0;
  mul.wide.s32 %d2, %r4, 4;
  add.s64 %d3, %d1, %d2;
  ld.global.f32 %f0, [%d3];
  add.f32 %f1, %f0, %f0;
  st.global.f32 [%d3], %f1;
DONE:
  ret;
}
.visible .entry _ZN5train7nothingEv() {
  ret;
}
)";

void* library;

template <typename F>
F* driver(F*, const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "the driver has no %s\n", name);
    std::exit(1);
  }
  return reinterpret_cast<F*>(found);
}
// Names as the header maps them (cuMemAlloc is cuMemAlloc_v2).
#define NAME_OF(name) #name
#define CU(name) driver(static_cast<decltype(name)*>(nullptr), NAME_OF(name))
#define CHECK(call)                                                        \
  do {                                                                     \
    const int result = static_cast<int>(call);                             \
    if (result != 0) {                                                     \
      std::fprintf(stderr, "%s: %d (line %d)\n", #call, result, __LINE__); \
      std::exit(1);                                                        \
    }                                                                      \
  } while (false)

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
  const auto instantiate = reinterpret_cast<Instantiate>(dlsym(library, "cuGraphInstantiateWithFlags"));
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
  library = dlopen("libcuda.so.1", RTLD_NOW);
  int devices = 0;
  if (library == nullptr || CU(cuInit)(0) != CUDA_SUCCESS || CU(cuDeviceGetCount)(&devices) != CUDA_SUCCESS ||
      devices == 0) {
    return 77;  // skipped: no device
  }
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction scale, nothing;
  CUstream stream;
  CHECK(CU(cuDeviceGet)(&device, 0));
  CHECK(CU(cuDevicePrimaryCtxRetain)(&context, device));
  CHECK(CU(cuCtxSetCurrent)(context));
  CHECK(CU(cuModuleLoadData)(&module, kPtx));
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
