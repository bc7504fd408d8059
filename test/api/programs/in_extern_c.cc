// SPDX-License-Identifier: MIT
// Programs that wrap every C header.
extern "C" {
#include <dftracer/dftracer.h>
}

extern "C" int c_function(int n) {
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_UPDATE_INT("n", n);
  return n;
}

int main() {
  DFTRACER_CPP_FUNCTION();
  return c_function(0);
}
