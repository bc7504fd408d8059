/* SPDX-License-Identifier: MIT */
/* S42: distinct COUNT: as many different names and values as there are events. */
#include "facts.h"
#include "work.h"

int main(int argc, char** argv) {
  const int count = atoi(argv[1]);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  for (int i = 0; i < count; i++) {
    char name[40];
    snprintf(name, sizeof name, "name-%d-of-many-more-names", i);
#ifndef DFTRACER_DISABLE
    struct DFTracerData* region = dftracer_initialize_region(name, "DISTINCT", 0);
    dftracer_region_update_str(region, "value", name);
    dftracer_finalize_region(region);
#endif
  }
  DFTRACER_C_FINI();
  fact("peak_kib", peak_kib());
  puts("ok");
  return 0;
}
