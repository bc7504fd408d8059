// SPDX-License-Identifier: MIT
// A stand-in for the CUDA runtime: it loads the driver at its first call and looks its functions up, as the real one
// does.
#include <dlfcn.h>

#include <cstdio>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
void* driver() {
  static void* const library = [] {
    void* opened = dlopen("libcuda.so.1", RTLD_NOW);
    if (opened == nullptr) {
      std::fprintf(stderr, "stand-in runtime: %s\n", dlerror());
      return opened;
    }
    const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(opened, "cuInit"));
    if (init == nullptr || init(0) != 0) return static_cast<void*>(nullptr);
    return opened;
  }();
  return library;
}
}  // namespace

EXPORT int cudaFree(void*) { return driver() != nullptr ? 0 : 35; }
EXPORT int cudaGetDevice(int* device) {
  *device = 0;
  return driver() != nullptr ? 0 : 35;
}
