// SPDX-License-Identifier: MIT
#include "sources/gpu/rocprof/functions.h"

#include <dlfcn.h>

#include <cstring>

namespace dft::gpu::rocprof {

const char* load_functions(void* library, Functions* out) {
  const char* missing = nullptr;
  char* at = reinterpret_cast<char*>(out);
  for (const FunctionRow& row : kFunctionRows) {
    void* address = dlsym(library, row.symbol);
    if (address == nullptr && row.needed && missing == nullptr) missing = row.symbol;
    // All members are plain function pointers, as large as an object pointer here.
    std::memcpy(at, &address, sizeof address);
    at += sizeof address;
  }
  return missing;
}

static_assert(sizeof(Functions) == sizeof(void*) * (sizeof kFunctionRows / sizeof kFunctionRows[0]));

}  // namespace dft::gpu::rocprof
