// SPDX-License-Identifier: MIT
// Purpose: a table of functions for the tests of this folder: kinds with the numbers and names that a test wants.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "sources/gpu/rocprof/functions.h"

namespace dft::gpu::rocprof {

struct FakeNames {
  std::vector<std::string> buffered, callbacks;  // the index is the number
  std::vector<std::string> operations;           // of every kind
};
inline FakeNames fake_names;

inline Status give(const std::vector<std::string>& names, int number, const char** name, std::uint64_t* size) {
  if (number < 0 || static_cast<std::size_t>(number) >= names.size()) return 4;
  *name = names[static_cast<std::size_t>(number)].c_str();
  *size = std::strlen(*name);
  return kDone;
}
template <typename Use>
Status visit(const std::vector<std::string>& names, Use&& use) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (use(static_cast<int>(i)) != 0) break;
  }
  return kDone;
}

inline Functions fake_functions() {
  Functions f;
  f.for_each_buffered_kind = [](KindCallback use, void* data) {
    return visit(fake_names.buffered, [&](int kind) { return use(kind, data); });
  };
  f.for_each_callback_kind = [](KindCallback use, void* data) {
    return visit(fake_names.callbacks, [&](int kind) { return use(kind, data); });
  };
  f.buffered_kind_name = [](int kind, const char** name, std::uint64_t* size) {
    return give(fake_names.buffered, kind, name, size);
  };
  f.callback_kind_name = [](int kind, const char** name, std::uint64_t* size) {
    return give(fake_names.callbacks, kind, name, size);
  };
  f.buffered_operation_name = [](int, std::int32_t operation, const char** name, std::uint64_t* size) {
    return give(fake_names.operations, operation, name, size);
  };
  return f;
}

}  // namespace dft::gpu::rocprof
