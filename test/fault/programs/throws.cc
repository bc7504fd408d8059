// SPDX-License-Identifier: MIT
// throws uncaught|noexcept|caught|rethrown|exit: how an exception passes traced regions, and what `exit` does below
// them.
#include <dftracer/dftracer.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace {

void inner() {
  DFTRACER_CPP_REGION(inner);
  throw std::out_of_range("too far");
}

void outer() {
  DFTRACER_CPP_REGION(outer);
  inner();
}

void no_way_out() noexcept { outer(); }

}  // namespace

int main(int, char** argv) {
  DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
  for (int i = 0; i < 100; i++) {
    DFTRACER_CPP_REGION(before);
  }
  if (std::strcmp(argv[1], "uncaught") == 0) outer();
  if (std::strcmp(argv[1], "noexcept") == 0) no_way_out();
  if (std::strcmp(argv[1], "exit") == 0) {
    DFTRACER_CPP_REGION(around_exit);
    std::exit(3);
  }
  try {
    try {
      outer();
    } catch (...) {
      if (std::strcmp(argv[1], "rethrown") == 0) throw;
    }
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
  }
  std::puts("on we go");
  return 0;
}
