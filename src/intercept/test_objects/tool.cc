// SPDX-License-Identifier: MIT
#include "tool.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/types.h>

#include <atomic>

#include "intercept/got_binder.h"

namespace {

using dft::intercept::Binding;
using ReadFunction = ssize_t(int, void*, std::size_t);
using SpawnFunction = int(void*, const char*, const void*, const void*, char* const*, char* const*);

dft::intercept::GotBinder binder;

template <int row>
struct Wrapper {
  static inline std::atomic<void*> real{nullptr};
  static inline std::atomic<long> calls{0};
  static ssize_t read(int fd, void* data, std::size_t size) {
    calls.fetch_add(1, std::memory_order_relaxed);
    return reinterpret_cast<ReadFunction*>(real.load(std::memory_order_relaxed))(fd, data, size);
  }
  static int spawn(void* pid, const char* path, const void* actions, const void* attributes, char* const* arguments,
                   char* const* environment) {
    return reinterpret_cast<SpawnFunction*>(real.load())(pid, path, actions, attributes, arguments, environment);
  }
};

std::atomic<void*> real_dlerror{nullptr};
std::atomic<long> dlerrors{0};
char* count_dlerror() {
  ++dlerrors;
  return reinterpret_cast<char* (*)()>(real_dlerror.load())();
}

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

const Binding bindings[] = {
    {"read", nullptr, address(Wrapper<0>::read), &Wrapper<0>::real},
    {"posix_spawn", nullptr, address(Wrapper<2>::spawn), &Wrapper<2>::real},
#if defined(__x86_64__)
    {"posix_spawn", "GLIBC_2.2.5", address(Wrapper<3>::spawn), &Wrapper<3>::real},
#endif
    {"dlerror", nullptr, address(count_dlerror), &real_dlerror},
    {"a_function_that_nobody_defines", nullptr, address(Wrapper<4>::spawn), &Wrapper<4>::real},
    {"read", nullptr, address(Wrapper<1>::read), &Wrapper<1>::real, true},
};
const Binding given[] = {{"read", nullptr, address(Wrapper<0>::read), &Wrapper<0>::real, false, true}};
constexpr std::size_t kCount = sizeof bindings / sizeof bindings[0];

int bind(int options) {
  Wrapper<1>::real = nullptr;
  if ((options & TOOL_GIVEN_REAL) != 0) {
    Wrapper<0>::real = dlsym(RTLD_NEXT, "read");
    return binder.bind(given, 1) ? 1 : 0;
  }
  return binder.bind(bindings, (options & TOOL_WITH_SPARE) != 0 ? kCount : kCount - 1) ? 1 : 0;
}

ToolCounts counts() {
  const dft::intercept::BoundCounts bound = binder.counts();
  return {bound.objects, bound.slots, bound.left.other, bound.left.unsure, bound.left.refused, bound.left.through};
}

const Tool tool = {
    bind,
    [](int flags) { binder.bind_new_objects(flags); },
    [] { binder.unbind(); },
    counts,
    [] { return Wrapper<0>::calls.load(); },
    [] { return Wrapper<1>::calls.load(); },
    [] { return dlerrors.load(); },
    [] { return Wrapper<0>::real.load(); },
    address(Wrapper<0>::read),
    address(Wrapper<2>::spawn),
    address(Wrapper<3>::spawn),
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const Tool* DFT_TEST_TOOL(void) { return &tool; }

#ifdef DFT_TEST_EXPORTS_READ
extern "C" __attribute__((visibility("default"))) ssize_t read(int fd, void* data, std::size_t size) {
  if (Wrapper<0>::real == nullptr) Wrapper<0>::real = dlsym(RTLD_NEXT, "read");
  return Wrapper<0>::read(fd, data, size);
}
#endif
