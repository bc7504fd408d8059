// SPDX-License-Identifier: MIT
#include "sources/gpu/demangle.h"

#include <cxxabi.h>
#ifdef DFT_HAS_LIBIBERTY
#define HAVE_DECL_BASENAME 1  // else its header declares one that is not libc's
#include <libiberty/demangle.h>
#endif

#include <cstring>

namespace dft::gpu {

#ifdef DFT_HAS_LIBIBERTY
bool demangles_long_symbols() { return true; }

namespace {
char* demangled_long(const char* symbol) {
  const std::size_t size = strnlen(symbol, kLongestDemangled + 1);
  if (size <= 1024 || size > kLongestDemangled) return nullptr;
  return cplus_demangle_v3(symbol, DMGL_PARAMS | DMGL_TYPES | DMGL_NO_RECURSE_LIMIT);
}
}  // namespace
#else
bool demangles_long_symbols() { return false; }

namespace {
char* demangled_long(const char*) { return nullptr; }
}  // namespace
#endif

char* demangled(const char* symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  return text != nullptr ? text : demangled_long(symbol);
}

}  // namespace dft::gpu
