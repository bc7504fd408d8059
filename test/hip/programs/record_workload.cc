// SPDX-License-Identifier: MIT
// The program of the recordings (standin/record_rocprof.cc): little work of each kind, from two threads with a stream
// each. Knows nothing of the tracer, and asks for no results: a null GPU computes none.
#include <thread>
#include <vector>

#include "runtime.h"

namespace {

constexpr int kCount = 1 << 16;  // floats: copies of few bytes are kernels
constexpr std::size_t kBytes = kCount * sizeof(float);

void work(const hip::Runtime& runtime, const hip::Kernels& kernels, const hip::Ranges& roctx) {
  hip::Stream stream;
  std::vector<float> host(kCount, 1.0f);
  void *a, *b;
  CHECK(runtime.SetDevice(0));
  CHECK(runtime.StreamCreate(&stream));
  CHECK(runtime.Malloc(&a, kBytes));
  CHECK(runtime.Malloc(&b, 2 * kBytes));
  if (roctx.Push != nullptr) roctx.Push("iteration");
  CHECK(runtime.MemcpyAsync(a, host.data(), kBytes, hip::kToDevice, stream));
  CHECK(runtime.MemcpyAsync(b, a, kBytes, hip::kOnDevice, stream));
  int count = kCount;
  void* arguments[] = {&b, &count};
  CHECK(runtime.ModuleLaunchKernel(kernels.scale, kCount / 256, 1, 1, 256, 1, 1, 1024, stream, arguments, nullptr));
  CHECK(runtime.ModuleLaunchKernel(kernels.nothing, 2, 3, 1, 64, 2, 1, 0, stream, nullptr, nullptr));
  if (roctx.Push != nullptr) roctx.Mark("launched \"both\"");
  CHECK(runtime.MemcpyAsync(host.data(), b, kBytes, hip::kToHost, stream));
  CHECK(runtime.StreamSynchronize(stream));
  if (roctx.Push != nullptr) roctx.Pop();
  CHECK(runtime.Free(a));
  CHECK(runtime.Free(b));
  CHECK(runtime.StreamDestroy(stream));
}

}  // namespace

int main() {
  const hip::Runtime runtime = hip::open_device();
  const hip::Kernels kernels = hip::compile(runtime);
  const hip::Ranges roctx(runtime.handle);
  const std::uint64_t across = roctx.Start == nullptr ? 0 : roctx.Start("across");
  std::thread other([&] { work(runtime, kernels, roctx); });
  work(runtime, kernels, roctx);
  other.join();
  if (roctx.Stop != nullptr) roctx.Stop(across);
  void* refused;
  if (runtime.Malloc(&refused, std::size_t{1} << 50) == 0) return 1;
  CHECK(runtime.ModuleUnload(kernels.module));
  return 0;
}
