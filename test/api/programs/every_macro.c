/* SPDX-License-Identifier: MIT */
/* Every C macro once, strict C99. Prints the sum of what it worked on, so that a wrongly evaluated argument shows. */
#include <dftracer/dftracer.h>
#include <stdio.h>

static int evaluated;
static int once(int value) {
  evaluated++;
  return value;
}

static int function_region(int leave) {
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_UPDATE_INT("int", 1);
  DFTRACER_C_FUNCTION_UPDATE_STR("str", "text");
  DFTRACER_C_FUNCTION_UPDATE_INT_TYPE("int_type", 2, MT_VALUE);
  DFTRACER_C_FUNCTION_UPDATE_STR_TYPE("str_type", "value", MT_IGNORE);
  DFTRACER_C_FUNCTION_UPDATE_INT64("int64", INT64_MIN);
  DFTRACER_C_FUNCTION_UPDATE_UINT64("uint64", UINT64_MAX);
  DFTRACER_C_FUNCTION_UPDATE_DOUBLE("double", 0.1);
  DFTRACER_C_FUNCTION_UPDATE_BOOL("bool", leave);
  if (leave) return 1;
  DFTRACER_C_FUNCTION_RELATE(DFT_REL_UPDATED, 0x1234);
  EntityID used = DFTRACER_C_FUNCTION_USES("file", "in");
  EntityID made = DFTRACER_C_FUNCTION_GENERATES("file", "out");
  DFTRACER_C_FUNCTION_END();
  return used == made;
}

static void named_regions(void) {
  DFTRACER_C_REGION_START(outer);
  DFTRACER_C_REGION_START(inner);
  DFTRACER_C_REGION_UPDATE_INT(inner, "int", -1);
  DFTRACER_C_REGION_UPDATE_STR(inner, "str", "text");
  DFTRACER_C_REGION_UPDATE_INT_TYPE(inner, "int_type", 2, 77);
  DFTRACER_C_REGION_UPDATE_STR_TYPE(inner, "str_type", "value", MT_KEY);
  DFTRACER_C_REGION_UPDATE_INT64(inner, "int64", INT64_MAX);
  DFTRACER_C_REGION_UPDATE_UINT64(inner, "uint64", 1u);
  DFTRACER_C_REGION_UPDATE_DOUBLE(inner, "double", 1e300);
  DFTRACER_C_REGION_UPDATE_BOOL(inner, "bool", 1);
  DFTRACER_C_REGION_RELATE(inner, DFT_REL_USED, 1);
  DFTRACER_C_REGION_END(outer); /* regions may interleave */
  DFTRACER_C_REGION_END(inner);
}

static void under_if(int no) {
  DFTRACER_C_REGION_START(guarded);
  if (no)
    DFTRACER_C_REGION_UPDATE_INT(guarded, "no", 1);
  else
    DFTRACER_C_REGION_UPDATE_INT(guarded, "yes", 1);
  if (no) DFTRACER_C_INIT_NO_BIND(NULL, NULL, NULL);
  if (no) DFTRACER_C_INIT(NULL, NULL, NULL);
  if (no) DFTRACER_C_INSTANT(no_instant);
  if (no) DFTRACER_C_METADATA(m, "no", "no");
  if (no) DFTRACER_C_APP_METADATA_INT("no", 1);
  if (no) DFTRACER_C_APP_METADATA_STR("no", "no");
  if (no) DFTRACER_C_MARK_USED("no");
  if (no) DFTRACER_C_ENTITY_TYPE("no", DFT_ROLE_INPUT, "no");
  if (no) DFTRACER_C_ENTITY_RELATE(DFT_REL_PART_OF, 1, 2);
  if (no) DFTRACER_C_REGION_RELATE(guarded, DFT_REL_USED, 3);
  if (no) DFTRACER_C_FINI();
  if (!no) DFTRACER_C_REGION_END(guarded);
}

int main(int argc, char** argv) {
  int id = 7;
  (void)argv;
  DFTRACER_C_INIT(NULL, NULL, &id);
  DFTRACER_C_METADATA(meta, "key", "value");
  DFTRACER_C_APP_METADATA_INT("answer", 42);
  DFTRACER_C_APP_METADATA_STR("model", "small");
  DFTRACER_C_MARK_USED("mine");
  DFTRACER_C_ENTITY_TYPE("file", DFT_ROLE_INPUT, "what is read");
  EntityID part = DFTRACER_C_ENTITY("file", "part", DFT_STORE_LOCAL_DISK, "/data/part");
  EntityID whole = DFTRACER_C_ENTITY("file", "whole", DFT_STORE_PARALLEL_FS, NULL);
  DFTRACER_C_ENTITY_RELATE(DFT_REL_PART_OF, part, whole);
  DFTRACER_C_INSTANT(checkpoint);
  DFTRACER_C_INSTANT("with \"quotes\"");
  DFTRACER_C_REGION_START(counted);
  DFTRACER_C_REGION_UPDATE_INT(counted, "n", once(3));
  DFTRACER_C_REGION_END(counted);
  const int early = function_region(1);
  (void)function_region(0);
  named_regions();
  under_if(argc > 5);
  DFTRACER_C_FINI();
  printf("%d\n", early);
#ifndef DFTRACER_DISABLE
  return evaluated == 1 ? 0 : 1; /* evaluated once, also when off */
#else
  return evaluated + (part != 0) + (whole != 0);
#endif
}
