// SPDX-License-Identifier: MIT
// A stand-in for the CUDA driver: as much of it as starting and tracing need. As the real one does, cuInit loads the
// library of CUDA_INJECTION64_PATH, once, with a lock held that the library's calls must not need.
//   DFT_CUDA_STANDIN="init_looks_up=1"  cuInit calls dlopen and dlsym, as real ones do
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

bool is_up = false;
std::mutex lock;  // not recursive: who calls back in here hangs, and the test's time is over

void inject() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return;
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "stand-in driver: %s\n", dlerror());
    return;
  }
  const auto begin = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (begin != nullptr) begin();
}

void look_up() {
  const char* words = std::getenv("DFT_CUDA_STANDIN");
  if (words == nullptr || std::strstr(words, "init_looks_up=1") == nullptr) return;
  void* self = dlopen("libm.so.6", RTLD_NOW);
  if (self == nullptr || dlsym(self, "cos") == nullptr) std::abort();
}

}  // namespace

EXPORT int cuInit(unsigned) {
  const std::lock_guard<std::mutex> guard(lock);
  if (is_up) return 0;
  inject();
  look_up();
  is_up = true;
  return 0;
}
EXPORT int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
EXPORT int cuDeviceGetCount(int* count) {
  *count = is_up ? 1 : 0;
  return is_up ? 0 : 3;
}

// Enough for programs that launch: nothing happens, and what happened is what the stand-in for CUPTI tells.
#define ANSWER (is_up ? 0 : 3)
EXPORT int cuDeviceGet(int* device, int) {
  *device = 0;
  return ANSWER;
}
EXPORT int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &lock;
  return ANSWER;
}
EXPORT int cuCtxSetCurrent(void*) { return ANSWER; }
EXPORT int cuCtxSynchronize() { return ANSWER; }
EXPORT int cuModuleLoadData(void** module, const void*) {
  *module = &lock;
  return ANSWER;
}
EXPORT int cuModuleGetFunction(void** function, void*, const char*) {
  *function = &lock;
  return ANSWER;
}
EXPORT int cuStreamCreate(void** stream, unsigned) {
  *stream = &lock;
  return ANSWER;
}
EXPORT int cuStreamSynchronize(void*) { return ANSWER; }
EXPORT int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                          void**) {
  return ANSWER;
}
