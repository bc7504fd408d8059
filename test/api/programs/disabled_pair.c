/* SPDX-License-Identifier: MIT */
/* Compiled with DFTRACER_DISABLE both functions must be the same instructions. */
#include <dftracer/dftracer.h>

int work(int n);

int annotated(int n);
int annotated(int n) {
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_UPDATE_INT("n", n);
  DFTRACER_C_REGION_START(part);
  DFTRACER_C_REGION_UPDATE_DOUBLE(part, "half", n / 2.0);
  DFTRACER_C_INSTANT(now);
  n = work(n);
  DFTRACER_C_REGION_END(part);
  DFTRACER_C_METADATA(m, "k", "v");
  DFTRACER_C_FUNCTION_USES("file", "x");
  DFTRACER_C_FUNCTION_END();
  return n + 1;
}

int bare(int n);
int bare(int n) {
  n = work(n);
  return n + 1;
}
