// SPDX-License-Identifier: MIT
// Compiled with DFTRACER_DISABLE both functions must be the same instructions.
#include <dftracer/dftracer.hpp>

extern "C" int work(int n);

extern "C" int annotated(int n) {
  DFTRACER_CPP_FUNCTION();
  DFTRACER_CPP_FUNCTION_UPDATE("n", n);
  DFTRACER_CPP_REGION(scope);
  DFTRACER_CPP_REGION_START(part);
  DFTRACER_CPP_REGION_DYN_UPDATE(part, "text", std::string("made of nothing"));
  DFTRACER_CPP_INSTANT(now);
  DFTracer region("name", "cat");
  region.update("n", n);
  region.uses("file", "x");
  n = work(n);
  DFTRACER_CPP_REGION_END(part);
  region.finalize();
  return n + 1;
}

extern "C" int bare(int n) {
  n = work(n);
  return n + 1;
}
