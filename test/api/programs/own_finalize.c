/* SPDX-License-Identifier: MIT */
/* A program whose own functions have the generic names, with other types: each must be called by its own callers only.
 */
#define DFTRACER_COMPAT_NAMES 0
#include <dftracer/dftracer.h>
#include <stdio.h>

int finalize(const char* text);
long mark_used(int count);
int initialize_main(void);

int finalize(const char* text) { return printf("%s\n", text); }
long mark_used(int count) { return count; }
int initialize_main(void) { return 0; }

int main(void) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  DFTRACER_C_REGION_START(own);
  DFTRACER_C_REGION_END(own);
  DFTRACER_C_FINI();
  return finalize("own") == 4 && mark_used(3) == 3 ? initialize_main() : 1;
}
