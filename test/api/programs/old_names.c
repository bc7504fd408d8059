/* SPDX-License-Identifier: MIT */
/* Code written against an older release: the functions by their generic names. */
#include <dftracer/dftracer.h>

int main(void) {
  initialize_main(NULL, NULL, NULL);
  mark_used("C_APP");
  set_app_metadata_int("number", 1);
  set_app_metadata_string("text", "old");
  struct DFTracerData* region = initialize_region("old_region", "OLD", DF_DATA_EVENT);
  update_metadata_int(region, "a", 1);
  update_metadata_string(region, "b", "two");
  update_metadata_int_type(region, "c", 3, 1);
  update_metadata_string_type(region, "d", "four", 2);
  update_relation(region, DFT_REL_USED, update_relation_entity(region, DFT_REL_USED, "t", "k", 0, NULL));
  finalize_region(region);
  struct DFTracerData* again = initialize_region("old_metadata", "OLD", DF_METADATA_EVENT);
  update_metadata_int(again, "ignored", 1);
  finalize_region_cleanup(&again);
  finalize_region(region);
  finalize();
  return again != NULL;
}
