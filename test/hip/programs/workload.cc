// SPDX-License-Identifier: MIT
// The program of the CTest test_hip_tracing: what HIP tracing records, inside the region HIP_WORKLOAD and checked for
// its results. Needs nothing of ROCm to be built; exit status 77 without a device. Runs over the stand-ins too.
//   workload [late] [no-results] [no-forks]    late: HIP is in use before the tracer is initialised
//       no-results: what kernels compute is not looked at; a null GPU computes nothing
//       no-forks: no children, for sanitizers that do not bear them
#include <dftracer/dftracer.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

#include "runtime.h"

namespace {

using hip::Kernels;
using hip::Runtime;
using hip::Stream;

constexpr int kCount = 1 << 16;  // floats
constexpr std::size_t kBytes = kCount * sizeof(float);
constexpr int kThreads = 4, kLaunchesOfThread = 100;
bool has_results = true, has_forks = true;

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::exit(1);
}

void launch(const Runtime& runtime, void* kernel, unsigned blocks, void** arguments, Stream stream) {
  CHECK(runtime.ModuleLaunchKernel(kernel, blocks, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
}

void copies(const Runtime& runtime, const Kernels& kernels, Stream stream) {
  std::vector<float> host(kCount, 1.0f);
  void *a, *b, *refused;
  CHECK(runtime.Malloc(&a, kBytes));
  CHECK(runtime.Malloc(&b, kBytes));
  require(runtime.Malloc(&refused, std::size_t{1} << 50) != 0, "a petabyte was given");
  runtime.GetLastError();
  CHECK(runtime.Memcpy(a, host.data(), kBytes, hip::kToDevice));
  CHECK(runtime.Memset(b, 0, kBytes));
  CHECK(runtime.Memcpy(b, a, kBytes, hip::kOnDevice));
  CHECK(runtime.DeviceSynchronize());
  int count = kCount;
  void* arguments[] = {&b, &count};
  for (int i = 0; i < 3; ++i) launch(runtime, kernels.scale, kCount / 256, arguments, stream);
  CHECK(runtime.MemcpyAsync(host.data(), b, kBytes, hip::kToHost, stream));
  CHECK(runtime.StreamSynchronize(stream));
  require(!has_results || (host[0] == 8.0f && host[kCount - 1] == 8.0f), "copies and kernels");
  CHECK(runtime.Free(a));
  CHECK(runtime.Free(b));
}

void threads(const Runtime& runtime, const Kernels& kernels) {
  std::vector<std::thread> all;
  for (int i = 0; i < kThreads; ++i) {
    all.emplace_back([&runtime, &kernels] {
      Stream own;
      CHECK(runtime.SetDevice(0));
      CHECK(runtime.StreamCreate(&own));
      for (int j = 0; j < kLaunchesOfThread; ++j) launch(runtime, kernels.nothing, 1, nullptr, own);
      CHECK(runtime.StreamSynchronize(own));
      CHECK(runtime.StreamDestroy(own));
    });
  }
  for (std::thread& thread : all) thread.join();
}

void ranges(const hip::Ranges& roctx) {
  if (roctx.Push == nullptr) return;
  roctx.Push("outer");
  roctx.Push("inner");
  roctx.Mark("mark");
  roctx.Pop();
  roctx.Pop();
  roctx.Stop(roctx.Start("across"));
}

// A child that ends each way, while HIP is up in its parent. HIP cannot be used in it, traced or not.
void forks() {
  for (const bool quickly : {true, false}) {
    const pid_t child = fork();
    if (child == 0) {
      DFTRACER_C_REGION_START(CHILD);
      DFTRACER_C_REGION_END(CHILD);
      if (quickly) _exit(0);
      std::exit(0);
    }
    if (child < 0) std::perror("fork");
    int status = -1;
    const bool has_ended = child > 0 && waitpid(child, &status, 0) == child;
    if (has_ended && status != 0)
      std::fprintf(stderr, "%s: status %#x\n", quickly ? "_exit" : "exit", static_cast<unsigned>(status));
    require(has_ended && status == 0, "a forked child");
  }
}

void work() {
  DFTRACER_C_REGION_START(HIP_WORKLOAD);
  const Runtime runtime = hip::open_device();
  const Kernels kernels = hip::compile(runtime);
  int device;
  for (int i = 0; i < 5; ++i) CHECK(runtime.GetDevice(&device));
  Stream stream;
  CHECK(runtime.StreamCreate(&stream));
  copies(runtime, kernels, stream);
  threads(runtime, kernels);
  ranges(hip::Ranges(runtime.handle));
  if (has_forks) forks();
  launch(runtime, kernels.nothing, 1, nullptr, stream);  // after the forks
  CHECK(runtime.StreamSynchronize(stream));
  CHECK(runtime.StreamDestroy(stream));
  CHECK(runtime.ModuleUnload(kernels.module));
  DFTRACER_C_REGION_END(HIP_WORKLOAD);
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "no-results") == 0) has_results = false;
    if (std::strcmp(argv[i], "no-forks") == 0) has_forks = false;
    if (std::strcmp(argv[i], "late") == 0) CHECK(hip::open_device().DeviceSynchronize());
  }
  DFTRACER_C_INIT(nullptr, nullptr, nullptr);
  work();
  DFTRACER_C_FINI();
  return 0;
}
