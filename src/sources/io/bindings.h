// SPDX-License-Identifier: MIT
// Purpose: one row for each intercepted function, used by both bindings: the preload library exports `name` as a jump
//          to `wrapper`, the GOT binder puts `wrapper` into the slots of loaded objects.
// Threads: constant, valid before any constructor runs; `*real` is filled by the first caller or by the binder.
#pragma once

#include <atomic>
#include <cstddef>

namespace dft::io {

struct Binding {
  const char* name;
  void* wrapper;
  std::atomic<void*>* real;  // null until known: the wrapper then looks it up itself
};

// What scripts/gen.py counts on for the preload library's jumps.
static_assert(sizeof(Binding) == 24 && offsetof(Binding, wrapper) == 8);

struct BindingList {
  const Binding* rows;
  std::size_t count;
};
BindingList posix_bindings();
BindingList stdio_bindings();

}  // namespace dft::io
