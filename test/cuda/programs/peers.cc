// SPDX-License-Identifier: MIT
// Copies between two GPUs, without peer access and then with it, and kernels on both; checked for their bytes. Exit
// status 77 where there are no two. Needs nothing of the tracer; check_peers.py knows its counts.
#include <vector>

#include "driver.h"

namespace {

constexpr std::size_t kBytes = 1 << 20;
constexpr int kKernels = 10;

struct Gpu {
  CUdevice device;
  CUcontext context;
  CUstream stream;
  CUdeviceptr memory;
};

Gpu open_gpu(int number) {
  Gpu gpu;
  CHECK(CU(cuDeviceGet)(&gpu.device, number));
  CHECK(CU(cuDevicePrimaryCtxRetain)(&gpu.context, gpu.device));
  CHECK(CU(cuCtxSetCurrent)(gpu.context));
  CHECK(CU(cuStreamCreate)(&gpu.stream, CU_STREAM_NON_BLOCKING));
  CHECK(CU(cuMemAlloc)(&gpu.memory, kBytes));
  CHECK(CU(cuMemsetD8)(gpu.memory, static_cast<unsigned char>(number + 1), kBytes));
  CHECK(CU(cuCtxSynchronize)());
  return gpu;
}

void copy(const Gpu& from, const Gpu& to) {
  CHECK(CU(cuCtxSetCurrent)(from.context));
  CHECK(CU(cuMemcpyPeerAsync)(to.memory, to.context, from.memory, from.context, kBytes, from.stream));
  CHECK(CU(cuStreamSynchronize)(from.stream));
}

void launch(const Gpu& gpu) {
  CHECK(CU(cuCtxSetCurrent)(gpu.context));
  const CUfunction nothing = driver::load(driver::kPtx, "_ZN5train7nothingEv");
  for (int i = 0; i < kKernels; ++i) {
    CHECK(CU(cuLaunchKernel)(nothing, 1, 1, 1, 32, 1, 1, 0, gpu.stream, nullptr, nullptr));
  }
  CHECK(CU(cuStreamSynchronize)(gpu.stream));
}

}  // namespace

int main() {
  driver::open_device();
  int devices = 0, possible = 0;
  CHECK(CU(cuDeviceGetCount)(&devices));
  if (devices < 2) {
    std::fprintf(stderr, "%d CUDA device: skipped\n", devices);
    return driver::kSkipped;
  }
  const Gpu a = open_gpu(0), b = open_gpu(1);
  for (const Gpu* gpu : {&a, &b}) launch(*gpu);
  for (int i = 0; i < 2; ++i) copy(a, b);
  CHECK(CU(cuDeviceCanAccessPeer)(&possible, a.device, b.device));
  if (possible == 0) {
    std::fprintf(stderr, "the two devices cannot reach each other: skipped\n");
    return driver::kSkipped;
  }
  CHECK(CU(cuCtxSetCurrent)(a.context));
  CHECK(CU(cuCtxEnablePeerAccess)(b.context, 0));
  CHECK(CU(cuCtxSetCurrent)(b.context));
  CHECK(CU(cuCtxEnablePeerAccess)(a.context, 0));
  for (int i = 0; i < 3; ++i) {
    copy(a, b);
    copy(b, a);
  }
  std::vector<unsigned char> host(kBytes);
  CHECK(CU(cuMemcpyDtoH)(host.data(), b.memory, kBytes));
  if (host[0] != 1 || host[kBytes - 1] != 1) {
    std::fprintf(stderr, "wrong: the copies\n");
    return 1;
  }
  return 0;
}
