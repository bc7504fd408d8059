// SPDX-License-Identifier: MIT
// The function behind an exported name, for core's wrappers. RTLD_NEXT means "behind the caller's library", and core
// may stand behind libc in that order, so the look-up is made from here.
#include <dlfcn.h>

#include <atomic>

extern "C" {
__attribute__((visibility("default"))) void* dftracer_next_symbol(const char* name);
}

namespace {

using Next = void*(const char*);

// No tail call: dlsym tells by its return address whose RTLD_NEXT it is.
void* behind_us(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  __asm__("" : "+r"(found));
  return found;
}

// Another installation's copy of this library, whose names lead to the same wrappers: only what is behind it is real.
// Asked once, before main, so nobody's dlerror is lost. An allocator that asks meanwhile has no other copy yet.
Next* other_copy() {
  static std::atomic<bool> asked{false};
  static std::atomic<Next*> other{nullptr};
  if (!asked.exchange(true)) {
    other = reinterpret_cast<Next*>(behind_us("dftracer_next_symbol"));
    if (other == nullptr) dlerror();
  }
  return other;
}

}  // namespace

void* dftracer_next_symbol(const char* name) {
  Next* other = other_copy();
  return __builtin_expect(other == nullptr, 1) ? behind_us(name) : other(name);
}
