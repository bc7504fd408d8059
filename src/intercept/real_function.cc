// SPDX-License-Identifier: MIT
#include "intercept/real_function.h"

#include <dlfcn.h>
#include <errno.h>

#include "intercept/preload_library.h"

// The end of the line of preload libraries; see preload/next_symbol.cc.
extern "C" {
__attribute__((visibility("default"))) extern void* (*const dftracer_next_in_line)(const char*);
void* (*const dftracer_next_in_line)(const char*) = nullptr;
}

namespace dft::intercept {

void* next_definition(const char* name) {
  const int error = errno;
  void* found = preload_library_is_loaded() ? dftracer_next_symbol(name) : dlsym(RTLD_DEFAULT, name);
  errno = error;
  return found;
}

}  // namespace dft::intercept
