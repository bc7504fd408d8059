// SPDX-License-Identifier: MIT
// One half of a program is compiled with DFTRACER_DISABLE, the other without: each class must stay itself.
#include <dftracer/dftracer.h>

#ifdef HALF_OFF
int half_off();
int half_off() {
  DFTRACER_CPP_FUNCTION();
  DFTracer region("never", "c");
  region.update("n", 1);
  return 1;
}
#else
int half_off();
int main() {
  DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
  {
    DFTracer region("always", "c");
    region.update("n", 1);
  }
  return half_off() - 1;
}
#endif
