// SPDX-License-Identifier: MIT
// A stand-in for the HIP runtime, for hiprtc and for ROCTx: enough for the programs of these tests. Memory is the
// host's, kernels run at once on the calling thread, and what a machine would tell rocprofiler-sdk is told to its
// stand-in. DFT_HIP_REGISTERS=load makes it known to rocprofiler-sdk as it is loaded, not at the first call; =never not
// at all.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "standin.h"

namespace {

constexpr int kSuccess = 0, kOutOfMemory = 2;
const char* const kNames[][2] = {{"train::scale<float>", "_ZN5train5scaleIfEEvPT_i"},
                                 {"train::nothing", "_ZN5train7nothingEv"}};

struct Module {
  std::uint64_t first_kernel;
  std::string symbols[2];  // with .kd, as code objects have them
};
struct Function {
  Module* module;
  int index;
};
struct Stream {
  std::uint64_t id;
};

// As rocprofiler-register does it: the tables go to whoever takes them; else, where there is a tool, rocprofiler-sdk is
// loaded for it, and the process ends when that is not installed.
void* find_receiver() {
  if (void* found = dlsym(RTLD_DEFAULT, "rocprofiler_set_api_table")) return found;
  if (dlsym(RTLD_DEFAULT, "rocprofiler_configure") == nullptr && std::getenv("ROCP_TOOL_LIBRARIES") == nullptr)
    return nullptr;
  for (const char* name : {"librocprofiler-sdk.so.1", "librocprofiler-sdk.so.0"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return dlsym(library, "rocprofiler_set_api_table");
  }
  std::fprintf(stderr, "stand-in: there is a tool, and no rocprofiler-sdk\n");
  std::abort();
}

using Table = int (*)(const char*, std::uint64_t, std::uint64_t, void**, std::uint64_t);

// The stand-in for the SDK, if it is in the process now.
standin::Sdk* loaded_sdk() {
  for (const char* name : {"librocprofiler-sdk.so.1", "librocprofiler-sdk.so.0"}) {
    void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (library != nullptr) return reinterpret_cast<standin::Sdk* (*)()>(dlsym(library, "dft_hip_standin"))();
  }
  return nullptr;
}

bool never_registers() {
  const char* when = std::getenv("DFT_HIP_REGISTERS");
  return when != nullptr && std::strcmp(when, "never") == 0;
}

standin::Sdk* attach() {
  if (never_registers()) return nullptr;
  void* receiver = find_receiver();
  if (receiver == nullptr) return nullptr;
  reinterpret_cast<Table>(receiver)("hip", 70000, 0, nullptr, 0);
  return loaded_sdk();
}

// Null where nobody traces. A tool may come later and ask for the tables again.
std::atomic<standin::Sdk*> attached{nullptr};
standin::Sdk* sdk() {
  static const bool once [[maybe_unused]] = (attached = attach(), true);
  return attached.load(std::memory_order_acquire);
}

__attribute__((constructor)) void loaded() {
  const char* when = std::getenv("DFT_HIP_REGISTERS");
  if (when != nullptr && std::strcmp(when, "load") == 0) sdk();
}

// A call of the API, which calls HSA.
class Call {
 public:
  explicit Call(const char* name, bool has_stream = false, void* stream = nullptr) : has_stream_(has_stream) {
    if (sdk() == nullptr) return;
    stream_ = stream == nullptr ? 0 : static_cast<Stream*>(stream)->id;
    value_ = reinterpret_cast<std::uint64_t>(stream);
    if (has_stream_) sdk()->stream(3, 1, stream_, value_);
    sdk()->enter("HIP_RUNTIME_API", name);
  }
  ~Call() {
    if (sdk() == nullptr) return;
    sdk()->leave(result);
    if (has_stream_) sdk()->stream(3, 2, stream_, value_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  std::uint64_t queue() const { return 100 + stream_; }
  int result = kSuccess;

 private:
  bool has_stream_;
  std::uint64_t stream_ = 0, value_ = 0;
};

void asks(const char* name) { const Call call(name); }

void allocation(const char* operation, void* address, std::size_t bytes) {
  if (sdk() == nullptr) return;
  sdk()->enter("HSA_AMD_EXT_API", "hsa_amd_memory_pool_allocate");
  standin::Event e;
  e.kind = "MEMORY_ALLOCATION";
  e.operation = operation;
  e.begin = standin::now_ns();
  e.end = standin::now_ns();
  e.agent = standin::kGpuAgent;
  e.address = reinterpret_cast<std::uint64_t>(address);
  e.bytes = bytes;
  sdk()->work(e);
  sdk()->leave(0);
}

int copy(const char* name, void* to, const void* from, std::size_t bytes, int kind, bool has_stream, void* stream) {
  const Call call(name, has_stream, stream);
  static const char* const kOperations[] = {"MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE",
                                            "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE"};
  if (sdk() != nullptr) sdk()->enter("HSA_AMD_EXT_API", "hsa_amd_memory_async_copy");
  standin::Event e;
  e.kind = "MEMORY_COPY";
  e.operation = kOperations[kind & 3];
  e.begin = standin::now_ns();
  std::memcpy(to, from, bytes);
  e.end = standin::now_ns();
  e.src_agent = (kind & 2) != 0 ? standin::kGpuAgent : standin::kCpuAgent;
  e.dst_agent = (kind & 1) != 0 ? standin::kGpuAgent : standin::kCpuAgent;
  e.bytes = bytes;
  e.src_address = reinterpret_cast<std::uint64_t>(from);
  e.dst_address = reinterpret_cast<std::uint64_t>(to);
  if (sdk() != nullptr) {
    sdk()->work(e);
    sdk()->leave(0);
  }
  return kSuccess;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

// Of rocprofiler-register: hands over again what it handed to nobody.
EXPORT int rocprofiler_register_invoke_nonpropagated_registrations() {
  sdk();
  if (attached.load() == nullptr && !never_registers()) attached = loaded_sdk();
  return 0;
}

EXPORT int hipInit(unsigned) {
  asks("hipInit");
  return kSuccess;
}
EXPORT int hipGetDeviceCount(int* count) {
  asks("hipGetDeviceCount");
  *count = 2;
  return kSuccess;
}
EXPORT int hipGetDevice(int* device) {
  asks("hipGetDevice");
  *device = 0;
  return kSuccess;
}
EXPORT int hipSetDevice(int) {
  asks("hipSetDevice");
  return kSuccess;
}
EXPORT int hipGetLastError() {
  asks("hipGetLastError");
  return kSuccess;
}
EXPORT int hipMalloc(void** out, std::size_t bytes) {
  Call call("hipMalloc");
  *out = bytes > std::size_t{1} << 40 ? nullptr : std::malloc(bytes);
  if (*out == nullptr) return call.result = kOutOfMemory;
  allocation("MEMORY_ALLOCATION_ALLOCATE", *out, bytes);
  return kSuccess;
}
EXPORT int hipFree(void* address) {
  const Call call("hipFree");
  allocation("MEMORY_ALLOCATION_FREE", address, 0);
  std::free(address);
  return kSuccess;
}
EXPORT int hipMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  return copy("hipMemcpy", to, from, bytes, kind, false, nullptr);
}
EXPORT int hipMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* stream) {
  return copy("hipMemcpyAsync", to, from, bytes, kind, true, stream);
}
EXPORT int hipMemset(void* to, int value, std::size_t bytes) {
  const Call call("hipMemset");
  std::memset(to, value, bytes);
  return kSuccess;
}
EXPORT int hipStreamCreate(void** out) {
  const Call call("hipStreamCreate");
  static std::uint64_t next = 0;
  static std::mutex lock;
  const std::lock_guard<std::mutex> guard(lock);
  auto* stream = new Stream{++next};
  *out = stream;
  if (sdk() != nullptr) sdk()->stream(1, 0, stream->id, reinterpret_cast<std::uint64_t>(stream));
  return kSuccess;
}
EXPORT int hipStreamDestroy(void* stream) {
  const Call call("hipStreamDestroy");
  auto* one = static_cast<Stream*>(stream);
  if (sdk() != nullptr) sdk()->stream(2, 0, one->id, reinterpret_cast<std::uint64_t>(stream));
  delete one;
  return kSuccess;
}
EXPORT int hipStreamSynchronize(void* stream) {
  const Call call("hipStreamSynchronize", true, stream);
  return kSuccess;
}
EXPORT int hipDeviceSynchronize() {
  asks("hipDeviceSynchronize");
  return kSuccess;
}

EXPORT int hipModuleLoadData(void** out, const void*) {
  const Call call("hipModuleLoadData");
  static std::uint64_t next = 1;
  auto* module = new Module{next, {}};
  next += 2;
  for (int i = 0; i < 2; ++i) {
    module->symbols[i] = std::string(kNames[i][1]) + ".kd";
    if (sdk() != nullptr)
      sdk()->symbol(true, module->first_kernel + static_cast<std::uint64_t>(i), module->symbols[i].c_str());
  }
  *out = module;
  return kSuccess;
}
EXPORT int hipModuleUnload(void* module) {
  const Call call("hipModuleUnload");
  auto* one = static_cast<Module*>(module);
  for (int i = 0; i < 2; ++i) {
    if (sdk() != nullptr)
      sdk()->symbol(false, one->first_kernel + static_cast<std::uint64_t>(i), one->symbols[i].c_str());
    one->symbols[i].assign(one->symbols[i].size(), '?');  // whoever kept the pointer reads this
  }
  return kSuccess;
}
EXPORT int hipModuleGetFunction(void** out, void* module, const char* name) {
  const Call call("hipModuleGetFunction");
  for (int i = 0; i < 2; ++i) {
    if (std::strcmp(kNames[i][1], name) != 0) continue;
    *out = new Function{static_cast<Module*>(module), i};
    return kSuccess;
  }
  return 500;  // not found
}
EXPORT int hipModuleLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned shared, void* stream, void** arguments,
                                 void**) {
  const Call call("hipModuleLaunchKernel", true, stream);
  const auto* one = static_cast<Function*>(function);
  if (sdk() != nullptr) sdk()->enter("HSA_CORE_API", "hsa_signal_store_screlease");
  standin::Event e;
  e.kind = "KERNEL_DISPATCH";
  e.operation = "KERNEL_DISPATCH_COMPLETE";
  e.begin = standin::now_ns();
  if (one->index == 0) {
    float* values = *static_cast<float**>(arguments[0]);
    for (int i = *static_cast<int*>(arguments[1]); i-- > 0;) values[i] *= 2;
  }
  e.end = standin::now_ns();
  e.agent = standin::kGpuAgent;
  e.queue = call.queue();
  e.kernel = one->module->first_kernel + static_cast<std::uint64_t>(one->index);
  e.group_segment = shared;
  e.private_segment = 16;
  const std::uint32_t block[3] = {block_x, block_y, block_z};
  const std::uint32_t grid[3] = {grid_x * block_x, grid_y * block_y, grid_z * block_z};
  std::memcpy(e.workgroup, block, sizeof block);
  std::memcpy(e.grid, grid, sizeof grid);
  if (sdk() != nullptr) {
    sdk()->work(e);
    sdk()->leave(0);
  }
  return kSuccess;
}

EXPORT int hiprtcCreateProgram(void** out, const char*, const char*, int, const char**, const char**) {
  *out = new std::string("code");
  return kSuccess;
}
EXPORT int hiprtcAddNameExpression(void*, const char*) { return kSuccess; }
EXPORT int hiprtcCompileProgram(void*, int, const char**) { return kSuccess; }
EXPORT int hiprtcGetLoweredName(void*, const char* expression, const char** out) {
  for (const auto& [source, symbol] : kNames) {
    if (std::strcmp(source, expression) == 0) *out = symbol;
  }
  return kSuccess;
}
EXPORT int hiprtcGetCodeSize(void* program, std::size_t* size) {
  *size = static_cast<std::string*>(program)->size();
  return kSuccess;
}
EXPORT int hiprtcGetCode(void* program, char* out) {
  std::memcpy(out, static_cast<std::string*>(program)->data(), static_cast<std::string*>(program)->size());
  return kSuccess;
}
EXPORT int hiprtcDestroyProgram(void** program) {
  delete static_cast<std::string*>(*program);
  return kSuccess;
}

EXPORT void roctxMarkA(const char* text) {
  if (sdk() != nullptr) sdk()->marker("roctxMarkA", text, 0, 0);
}
EXPORT int roctxRangePushA(const char* text) {
  if (sdk() != nullptr) sdk()->marker("roctxRangePushA", text, 0, 0);
  return 0;
}
EXPORT int roctxRangePop() {
  if (sdk() != nullptr) sdk()->marker("roctxRangePop", nullptr, 0, 0);
  return 0;
}
EXPORT std::uint64_t roctxRangeStartA(const char* text) {
  static std::uint64_t next = 0;
  const std::uint64_t id = __atomic_add_fetch(&next, 1, __ATOMIC_RELAXED);
  if (sdk() != nullptr) sdk()->marker("roctxRangeStartA", text, 0, id);
  return id;
}
EXPORT void roctxRangeStop(std::uint64_t id) {
  if (sdk() != nullptr) sdk()->marker("roctxRangeStop", nullptr, id, 0);
}
