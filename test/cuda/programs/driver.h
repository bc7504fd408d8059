// SPDX-License-Identifier: MIT
// Purpose: the CUDA driver without linking it, and kernels as text: programs that need neither nvcc nor a CUDA library.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace driver {

constexpr int kSkipped = 77;  // no device here: CTest's SKIP_RETURN_CODE

inline void* library = nullptr;

template <typename F>
F* function(F*, const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "the driver has no %s\n", name);
    std::exit(1);
  }
  return reinterpret_cast<F*>(found);
}
// Names as the header maps them (cuMemAlloc is cuMemAlloc_v2). Looked up once for each place.
#define NAME_OF(name) #name
#define CU(name)                                                                                        \
  ([]() {                                                                                               \
    static const auto found = ::driver::function(static_cast<decltype(name)*>(nullptr), NAME_OF(name)); \
    return found;                                                                                       \
  }())
#define CHECK(call)                                                                        \
  do {                                                                                     \
    const int result_of_call = static_cast<int>(call);                                     \
    if (result_of_call != 0) {                                                             \
      std::fprintf(stderr, "%s: %d (%s:%d)\n", #call, result_of_call, __FILE__, __LINE__); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (false)

// The first device's primary context is current afterwards. Ends the program where there is none.
inline CUcontext open_device() {
  library = dlopen("libcuda.so.1", RTLD_NOW);
  int devices = 0;
  if (library == nullptr || CU(cuInit)(0) != CUDA_SUCCESS || CU(cuDeviceGetCount)(&devices) != CUDA_SUCCESS ||
      devices == 0) {
    std::fprintf(stderr, "no CUDA device: skipped\n");
    std::exit(kSkipped);
  }
  CUdevice device;
  CUcontext context;
  CHECK(CU(cuDeviceGet)(&device, 0));
  CHECK(CU(cuDevicePrimaryCtxRetain)(&context, device));
  CHECK(CU(cuCtxSetCurrent)(context));
  return context;
}

inline CUfunction load(const char* ptx, const char* name) {
  CUmodule module;
  CUfunction kernel;
  CHECK(CU(cuModuleLoadData)(&module, ptx));
  CHECK(CU(cuModuleGetFunction)(&kernel, module, name));
  return kernel;
}

// void train::scale<float>(float*, int): out[i] *= 2; void train::nothing(); both in one module.
inline const char* const kPtx = R"(
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
.visible .entry _ZN5train4holdEPVjS1_j(.param .u64 up, .param .u64 down, .param .u32 n) {
  .reg .pred %q; .reg .b32 %r<3>; .reg .b64 %d<4>;
  ld.param.u64 %d0, [up];
  ld.param.u64 %d1, [down];
  ld.param.u32 %r0, [n];
  cvta.to.global.u64 %d2, %d0;
  cvta.to.global.u64 %d3, %d1;
  st.volatile.global.u32 [%d2], %r0;
  membar.sys;
AGAIN:
  ld.volatile.global.u32 %r1, [%d3];
  setp.ne.s32 %q, %r1, %r0;
  @%q bra AGAIN;
  ret;
}
)";

}  // namespace driver
