// SPDX-License-Identifier: MIT
// Purpose: HIP, hiprtc and ROCTx without linking or headers of them: programs that need nothing of ROCm to be built.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <type_traits>

namespace hip {

constexpr int kSkipped = 77;  // no device here: CTest's SKIP_RETURN_CODE
constexpr int kToDevice = 1, kToHost = 2, kOnDevice = 3;

inline void* open_first(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return library;
  }
  return nullptr;
}

template <typename F>
F* function(void* library, const char* name) {
  void* found = library == nullptr ? nullptr : dlsym(library, name);
  return reinterpret_cast<F*>(found);
}

using Stream = void*;

struct Runtime {
  void* handle = open_first({"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"});
#define HIP_FUNCTION(name, ...) std::add_pointer_t<__VA_ARGS__> name = function<__VA_ARGS__>(handle, "hip" #name)
  HIP_FUNCTION(GetDeviceCount, int(int*));
  HIP_FUNCTION(GetDevice, int(int*));
  HIP_FUNCTION(SetDevice, int(int));
  HIP_FUNCTION(GetLastError, int());
  HIP_FUNCTION(Malloc, int(void**, std::size_t));
  HIP_FUNCTION(Free, int(void*));
  HIP_FUNCTION(Memcpy, int(void*, const void*, std::size_t, int));
  HIP_FUNCTION(MemcpyAsync, int(void*, const void*, std::size_t, int, Stream));
  HIP_FUNCTION(Memset, int(void*, int, std::size_t));
  HIP_FUNCTION(StreamCreate, int(Stream*));
  HIP_FUNCTION(StreamDestroy, int(Stream));
  HIP_FUNCTION(StreamSynchronize, int(Stream));
  HIP_FUNCTION(DeviceSynchronize, int());
  HIP_FUNCTION(ModuleLoadData, int(void**, const void*));
  HIP_FUNCTION(ModuleUnload, int(void*));
  HIP_FUNCTION(ModuleGetFunction, int(void**, void*, const char*));
  HIP_FUNCTION(ModuleLaunchKernel, int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                       Stream, void**, void**));
#undef HIP_FUNCTION
};

// Since ROCm 7 in a library of its own.
struct Compiler {
  explicit Compiler(void* runtime) { load(runtime); }
  void* handle = open_first({"libhiprtc.so", "libhiprtc.so.7", "libhiprtc.so.6"});
  int (*CreateProgram)(void**, const char*, const char*, int, const char**, const char**) = nullptr;
  int (*AddNameExpression)(void*, const char*) = nullptr;
  int (*CompileProgram)(void*, int, const char**) = nullptr;
  int (*GetLoweredName)(void*, const char*, const char**) = nullptr;
  int (*GetCodeSize)(void*, std::size_t*) = nullptr;
  int (*GetCode)(void*, char*) = nullptr;

 private:
  template <typename F>
  void find(F*& out, void* runtime, const char* name) {
    out = function<F>(handle, name);
    if (out == nullptr) out = function<F>(runtime, name);
  }
  void load(void* runtime) {
    find(CreateProgram, runtime, "hiprtcCreateProgram");
    find(AddNameExpression, runtime, "hiprtcAddNameExpression");
    find(CompileProgram, runtime, "hiprtcCompileProgram");
    find(GetLoweredName, runtime, "hiprtcGetLoweredName");
    find(GetCodeSize, runtime, "hiprtcGetCodeSize");
    find(GetCode, runtime, "hiprtcGetCode");
  }
};

struct Ranges {
  explicit Ranges(void* runtime) {
    void* own =
        open_first({"librocprofiler-sdk-roctx.so", "librocprofiler-sdk-roctx.so.1", "librocprofiler-sdk-roctx.so.0"});
    void* library = own != nullptr ? own : runtime;
    Mark = function<void(const char*)>(library, "roctxMarkA");
    Push = function<int(const char*)>(library, "roctxRangePushA");
    Pop = function<int()>(library, "roctxRangePop");
    Start = function<std::uint64_t(const char*)>(library, "roctxRangeStartA");
    Stop = function<void(std::uint64_t)>(library, "roctxRangeStop");
  }
  void (*Mark)(const char*);
  int (*Push)(const char*);
  int (*Pop)();
  std::uint64_t (*Start)(const char*);
  void (*Stop)(std::uint64_t);
};

#define CHECK(call)                                                                        \
  do {                                                                                     \
    const int result_of_call = static_cast<int>(call);                                     \
    if (result_of_call != 0) {                                                             \
      std::fprintf(stderr, "%s: %d (%s:%d)\n", #call, result_of_call, __FILE__, __LINE__); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (false)

// Ends the program where there is no device.
inline Runtime open_device() {
  Runtime runtime;
  int devices = 0;
  if (runtime.handle == nullptr || runtime.GetDeviceCount(&devices) != 0 || devices == 0) {
    std::fprintf(stderr, "no HIP device: skipped\n");
    std::exit(kSkipped);
  }
  CHECK(runtime.SetDevice(0));
  return runtime;
}

inline const char* const kSource = R"(
namespace train {
template <typename T> __global__ void scale(T* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += values[i];
}
__global__ void nothing() {}
}
)";

struct Kernels {
  void *module = nullptr, *scale = nullptr, *nothing = nullptr;
};

inline Kernels compile(const Runtime& runtime) {
  const Compiler compiler(runtime.handle);
  Kernels out;
  if (compiler.CreateProgram == nullptr) {
    std::fprintf(stderr, "no hiprtc: skipped\n");
    std::exit(kSkipped);
  }
  void* program;
  CHECK(compiler.CreateProgram(&program, kSource, "kernels.hip", 0, nullptr, nullptr));
  const char* const names[] = {"train::scale<float>", "train::nothing"};
  for (const char* name : names) CHECK(compiler.AddNameExpression(program, name));
  CHECK(compiler.CompileProgram(program, 0, nullptr));
  std::size_t size;
  CHECK(compiler.GetCodeSize(program, &size));
  auto* code = static_cast<char*>(std::malloc(size));
  CHECK(compiler.GetCode(program, code));
  CHECK(runtime.ModuleLoadData(&out.module, code));
  std::free(code);
  void** const functions[] = {&out.scale, &out.nothing};
  for (int i = 0; i < 2; ++i) {
    const char* symbol = nullptr;
    CHECK(compiler.GetLoweredName(program, names[i], &symbol));
    CHECK(runtime.ModuleGetFunction(functions[i], out.module, symbol));
  }
  return out;
}

}  // namespace hip
