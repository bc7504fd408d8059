// SPDX-License-Identifier: MIT
// Launches as nvcc compiles them: <<<>>> through the runtime, two instances of one template.
//   runtime_launch COUNT
#include <cstdio>
#include <cstdlib>

namespace train {
template <typename T>
__global__ void add(T* out, T value) {
  out[threadIdx.x] += value;
}
}  // namespace train

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 100;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
  float* floats = nullptr;
  double* doubles = nullptr;
  float host = 0.0F;
  if (cudaMalloc(&floats, 4096) != cudaSuccess || cudaMalloc(&doubles, 4096) != cudaSuccess) return 1;
  cudaMemset(floats, 0, 4096);
  for (int i = 0; i < count; ++i) {
    train::add<float><<<1, 32>>>(floats, 1.0F);
    train::add<double><<<1, 32>>>(doubles, 1.0);
  }
  cudaMemcpy(&host, floats, sizeof host, cudaMemcpyDeviceToHost);
  return host == static_cast<float>(count) && cudaGetLastError() == cudaSuccess ? 0 : 1;
}
