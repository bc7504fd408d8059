/* SPDX-License-Identifier: MIT */
#include <dftracer/dftracer.h>
#include <stdio.h>

#include <dftracer/dftracer_config.hpp>

static void work(void) {
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_UPDATE_INT("answer", 42);
  DFTRACER_C_FUNCTION_END();
}

int main(void) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work();
  DFTRACER_C_FINI();
  puts(DFTRACER_VERSION);
  return 0;
}
