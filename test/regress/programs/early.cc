// SPDX-License-Identifier: MIT
// S25: events from constructors that run before or amid the tracer's own, with an allocator of the program's own that
// logs.
#include <dftracer/dftracer.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace {

alignas(16) char pool[1 << 22];
unsigned long pool_used;
unsigned long calls;

struct Early {
  Early() {
    DFTRACER_CPP_REGION(global_object);
    std::FILE* file = std::fopen("early", "w");
    std::fprintf(file, "hello\n");
    std::fclose(file);
  }
} early;

}  // namespace

// The program's own calloc: counts, and writes to stderr now and then.
extern "C" void* calloc(size_t count, size_t size) {
  const unsigned long bytes = (count * size + 15) & ~15ul;
  const unsigned long at = __atomic_fetch_add(&pool_used, bytes, __ATOMIC_RELAXED);
  if (at + bytes > sizeof pool) {
    errno = ENOMEM;
    return nullptr;
  }
  if (__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) == 0 && write(2, "first calloc\n", 13) < 0) return nullptr;
  return pool + at;
}

__attribute__((constructor(101))) static void first_of_all() { DFTRACER_CPP_REGION(constructor); }

int main() {
  void* volatile own = calloc(1, 10);
  DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
  for (int i = 0; i < 100; i++) {
    DFTRACER_CPP_REGION(in_main);
  }
  std::puts(own != nullptr ? "ok" : "no memory");
  return 0;
}
