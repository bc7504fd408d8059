// SPDX-License-Identifier: MIT
// Opens a libcupti as the tracer does and says what it finds, on one line. With a CUDA_VERSION as argument it fails
// unless the library's version fits it and each function is there exactly from the release on that functions.h says.
// Usage: probe_cupti LIBRARY_OR_FOLDER [CUDA_VERSION [DRIVER]]; "" looks in the loader's places only. DRIVER: mapped
// (libcuda is mapped, not initialised), up (initialised too), force (mapped, and a library that waits for the driver is
// called).
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sources/gpu/cupti/library.h"

using namespace dft::gpu::cupti;

namespace {

bool has(const Functions& functions, const FunctionRow& row) {
  void* address;
  std::memcpy(&address, reinterpret_cast<const char*>(&functions) + row.offset, sizeof(address));
  return address != nullptr;
}

int check(const Library& library, unsigned long cuda) {
  const Toolkits toolkits = library.version.toolkits();
  int wrong = 0;
  if (library.version.api() != 0 && (cuda < toolkits.oldest || cuda > toolkits.newest)) {
    std::printf(" WRONG: version stands for %u to %u", toolkits.oldest, toolkits.newest);
    ++wrong;
  }
  for (const FunctionRow& row : kFunctionRows) {
    if (has(library.functions, row) != (row.oldest_cuda <= cuda)) {
      std::printf(" WRONG: %s %s", row.symbol, has(library.functions, row) ? "is there" : "is missing");
      ++wrong;
    }
  }
  return wrong;
}

// What answers without a GPU. 13.3 and later answer nothing without a usable driver.
int call(const Library& library) {
  const char* name = nullptr;
  library.functions.callback_name(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, &name);
  std::uint64_t now = 0;
  const int clock = library.functions.get_timestamp(&now);
  const int enable = library.functions.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  std::printf("version %u, %s, clock %d, enable %d", library.version.api(), name != nullptr ? name : "no name", clock,
              enable);
  return library.version.api() != 0 && name == nullptr ? 1 : 0;
}

bool bring_driver(const char* how) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr || std::strcmp(how, "up") != 0) return driver != nullptr;
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  return init != nullptr && init(0) == 0;
}

}  // namespace

int main(int count, char** arguments) {
  static Library library;
  const char* driver = count > 3 ? arguments[3] : "";
  if (driver[0] != '\0' && !bring_driver(driver)) {
    std::printf("no usable driver\n");
    return 77;
  }
  const bool opened = open_library({count > 1 ? arguments[1] : nullptr, nullptr, nullptr}, &library);
  if (!opened && !library.waits_for_driver) {
    std::printf("not opened: %s\n", library.tried.c_str());
    return 1;
  }
  unsigned there = 0, all = 0;
  for (const FunctionRow& row : kFunctionRows) {
    ++all;
    there += has(library.functions, row) ? 1u : 0u;
  }
  std::printf("%u of %u functions, ", there, all);
  int wrong = 0;
  if (!opened && std::strcmp(driver, "force") == 0) {
    std::uint32_t api = 0;
    std::printf("forced call gives %d", library.functions.get_version(&api));
    std::printf(", version %u", api);
  } else if (opened) {
    wrong = call(library);
  } else {
    std::printf("not called: waits for the driver");
  }
  wrong += count > 2 ? check(library, std::strtoul(arguments[2], nullptr, 10)) : 0;
  std::printf("\n");
  return wrong != 0 ? 1 : 0;
}
