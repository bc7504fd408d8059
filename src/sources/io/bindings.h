// SPDX-License-Identifier: MIT
// Purpose: one row for each intercepted function, used by both bindings: the preload library exports `name` as a jump
//          to `wrapper`, the GOT binder puts `wrapper` into the slots of loaded objects.
// Threads: constant, valid before any constructor runs; `*real` is filled by the first caller or by the binder.
#pragma once

#include <cstddef>

#include "intercept/binding_table.h"

namespace dft::io {

using intercept::Binding;

// What scripts/gen.py counts on for the preload library's jumps.
static_assert(sizeof(Binding) == 40 && offsetof(Binding, wrapper) == 16);

struct BindingList {
  const Binding* rows;
  std::size_t count;
};
BindingList posix_bindings();
BindingList stdio_bindings();

}  // namespace dft::io
