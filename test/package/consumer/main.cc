// SPDX-License-Identifier: MIT
#include <dftracer/dftracer.hpp>
#include <dftracer/dftracer_config.hpp>
#include <iostream>

static void work() {
  DFTRACER_CPP_FUNCTION();
  DFTRACER_CPP_FUNCTION_UPDATE("answer", 42);
}

int main() {
  DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
  work();
  DFTRACER_CPP_FINI();
  std::cout << DFTRACER_VERSION << '\n';
  return 0;
}
