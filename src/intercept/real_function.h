// SPDX-License-Identifier: MIT
// Purpose: the next definition of an intercepted name behind ours (RTLD_NEXT), looked up once.
// Threads: any; a race looks the same name up twice and stores the same pointer.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace dft::intercept {

template <class Function>
class RealFunction {
 public:
  constexpr explicit RealFunction(const char* name) : name_(name) {}
  Function* get() {
    void* known = pointer_.load(std::memory_order_relaxed);
    if (known == nullptr) {
      known = dlsym(RTLD_NEXT, name_);
      pointer_.store(known, std::memory_order_relaxed);
    }
    return reinterpret_cast<Function*>(known);
  }

 private:
  const char* name_;
  std::atomic<void*> pointer_{nullptr};
};

}  // namespace dft::intercept
