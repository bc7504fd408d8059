// SPDX-License-Identifier: MIT
// The function behind an exported name, for core's wrappers. RTLD_NEXT means "behind the caller's library", and core
// may stand behind libc in that order, so the look-up is made from here.
#include <dlfcn.h>

extern "C" {
__attribute__((visibility("default"))) void* dftracer_next_symbol(const char* name);
void* dftracer_next_symbol(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  __asm__("" : "+r"(found));  // no tail call: dlsym tells by its return address whose RTLD_NEXT it is
  return found;
}
}
