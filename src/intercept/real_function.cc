// SPDX-License-Identifier: MIT
#include "intercept/real_function.h"

#include <dlfcn.h>
#include <errno.h>

#include "intercept/preload_library.h"

namespace dft::intercept {

void* next_definition(const char* name) {
  const int error = errno;
  void* found = preload_library_is_loaded() ? dftracer_next_symbol(name) : dlsym(RTLD_DEFAULT, name);
  errno = error;
  return found;
}

}  // namespace dft::intercept
