/* SPDX-License-Identifier: MIT */
/* The whole life twice in one process, with regions left open across FINI; and pointers that are stale by then. */
#include <dftracer/dftracer.h>
#include <errno.h>
#include <stdio.h>

static void one_life(const char* name, int open) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  DFTRACER_C_APP_METADATA_STR("life", name);
  struct DFTracerData* region = initialize_region(name, "LIFE", DF_DATA_EVENT);
  update_metadata_string(region, "when", "before");
  if (!open) finalize_region(region);
  DFTRACER_C_FINI();
  update_metadata_string(region, "when", "after"); /* stale in both cases */
  finalize_region(region);
}

int main(void) {
  errno = ENOTTY;
  struct DFTracerData* stale;
  one_life("closed", 0);
  one_life("open", 1);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  stale = initialize_region("third_open", "LIFE", DF_DATA_EVENT);
  DFTRACER_C_FINI();
  DFTRACER_C_INIT(NULL, NULL, NULL);
  struct DFTracerData* fresh = initialize_region("fourth", "LIFE", DF_DATA_EVENT);
  finalize_region(stale); /* must not end `fourth`, whatever memory it has */
  update_metadata_int(fresh, "still", 1);
  finalize_region(fresh);
  DFTRACER_C_FINI();
  puts("done");
  return errno == ENOTTY ? 0 : 1;
}
