// SPDX-License-Identifier: MIT
#include "sources/gpu/cupti/functions.h"

#include <dlfcn.h>

#include <cstring>

namespace dft::gpu::cupti {

const char* load_functions(void* library, Functions* out) {
  const char* missing = nullptr;
  for (const FunctionRow& row : kFunctionRows) {
    void* address = dlsym(library, row.symbol);
    if (address == nullptr && row.needed && missing == nullptr) missing = row.symbol;
    // All members are plain function pointers, as large as an object pointer here.
    std::memcpy(reinterpret_cast<char*>(out) + row.offset, &address, sizeof(address));
  }
  return missing;
}

static_assert(sizeof(Functions) == sizeof(void*) * (sizeof(kFunctionRows) / sizeof(kFunctionRows[0])));

}  // namespace dft::gpu::cupti
