/* SPDX-License-Identifier: MIT */
/* A program that defines `finalize` with the library's signature and knows nothing of COMPAT_NAMES. */
#include <dftracer/dftracer.h>
#include <stdio.h>

void finalize(void) { puts("own"); }

int main(void) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  DFTRACER_C_REGION_START(own);
  DFTRACER_C_REGION_END(own);
  DFTRACER_C_FINI();
  finalize();
  return 0;
}
