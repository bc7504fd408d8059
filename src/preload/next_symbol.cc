// SPDX-License-Identifier: MIT
// The function behind an exported name, for core's wrappers. RTLD_NEXT means "behind the caller's library", and core
// may stand behind libc in that order, so the look-up is made from here.
#include <dlfcn.h>

#include <atomic>

using Next = void*(const char*);
namespace {
Next next_symbol;
}

extern "C" {
__attribute__((visibility("default"))) Next dftracer_next_symbol;
// In each copy of this library its own, and in the core, which is behind them all, null: so a look-up always finds one.
// One that finds nothing allocates, and who asks may be an allocator.
__attribute__((visibility("default"))) extern Next* const dftracer_next_in_line;
Next* const dftracer_next_in_line = &next_symbol;  // the exported name is everywhere that of the first copy
void* dftracer_next_symbol(const char* name) { return next_symbol(name); }
}

namespace {

// No tail call: dlsym tells by its return address whose RTLD_NEXT it is.
void* behind_us(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  __asm__("" : "+r"(found));
  return found;
}

// Another installation's copy of this library, whose names lead to the same wrappers: only what is behind it is real.
// Asked once, mostly before main. Who asks meanwhile, within the look-up, gets what is behind us.
Next* other_copy() {
  static std::atomic<bool> asked{false};
  static std::atomic<Next*> other{nullptr};
  if (!asked.exchange(true)) {
    const auto* in_line = static_cast<Next* const*>(behind_us("dftracer_next_in_line"));
    if (in_line != nullptr) other = *in_line;
  }
  return other;
}

void* next_symbol(const char* name) {
  Next* other = other_copy();
  return __builtin_expect(other == nullptr, 1) ? behind_us(name) : other(name);
}

}  // namespace
