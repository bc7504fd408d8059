// SPDX-License-Identifier: MIT
// Purpose: the definition of an intercepted name behind ours, found once: by the GOT binder, or by the first caller.
// Threads: any; a race looks the same name up twice and stores the same pointer. Constant-initialised.
#pragma once

#include <atomic>

namespace dft::intercept {

// The next definition behind the preload library's, if that is loaded; else the one that everybody sees. Null: none.
// errno is kept. Takes the dynamic linker's lock.
void* next_definition(const char* name);

struct RealFunction {
  const char* name;
  std::atomic<void*> address{nullptr};

  // Null when this libc does not have the function.
  void* find() {
    void* known = address.load(std::memory_order_relaxed);
    if (__builtin_expect(known == nullptr, 0)) {
      known = next_definition(name);
      address.store(known, std::memory_order_relaxed);
    }
    return known;
  }
  template <class Signature>
  Signature* as() {
    return reinterpret_cast<Signature*>(find());
  }
};

}  // namespace dft::intercept
