// SPDX-License-Identifier: MIT
// Where the GPU's clock really is: each kernel raises a pinned flag when it starts and ends when the CPU raises
// another. Its start must lie between the launch and the flag being seen (region START), its end between the CPU's flag
// and the completion being seen (region STOP); check_cuda_truth.py holds the trace against that.
//   truth [KERNELS [IDLE_SECONDS]]   with IDLE_SECONDS the device idles so long in the middle
#include <dftracer/dftracer.h>
#include <unistd.h>

#include <cstdint>

#include "driver.h"

namespace {

volatile std::uint32_t* flag_at(std::uint32_t* host, CUdeviceptr* device) {
  CHECK(CU(cuMemHostGetDevicePointer)(device, host, 0));
  return host;
}

}  // namespace

int main(int argc, char** argv) {
  const auto kernels = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 1000);
  const auto idle = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 0);
  DFTRACER_C_INIT(nullptr, nullptr, nullptr);
  driver::open_device();
  const CUfunction hold = driver::load(driver::kPtx, "_ZN5train4holdEPVjS1_j");
  std::uint32_t* flags;
  CHECK(CU(cuMemHostAlloc)(reinterpret_cast<void**>(&flags), 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  CUdeviceptr up_there, down_there;
  volatile std::uint32_t* up = flag_at(flags, &up_there);
  volatile std::uint32_t* down = flag_at(flags + 512, &down_there);
  CUstream stream;
  CHECK(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
  *up = *down = 0;
  for (std::uint32_t n = 1; n <= kernels; ++n) {
    void* arguments[] = {&up_there, &down_there, &n};
    {
      DFTRACER_C_REGION_START(START);
      CHECK(CU(cuLaunchKernel)(hold, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
      while (*up != n) {
      }
      DFTRACER_C_REGION_END(START);
    }
    {
      DFTRACER_C_REGION_START(STOP);
      __atomic_store_n(down, n, __ATOMIC_SEQ_CST);  // nothing of the region's begin comes after it
      while (CU(cuStreamQuery)(stream) == CUDA_ERROR_NOT_READY) {
      }
      DFTRACER_C_REGION_END(STOP);
    }
    if (idle != 0 && n == kernels / 2) sleep(idle);
  }
  DFTRACER_C_FINI();
  return 0;
}
