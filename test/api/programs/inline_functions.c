/* SPDX-License-Identifier: MIT
 *
 * Macros in inline functions of every linkage, as a header would hold them.
 */
#include <dftracer/dftracer.h>

int plain(int value);
int elsewhere(int value);
int user(int value);

inline int plain(int value) {
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_UPDATE_INT("value", value);
  DFTRACER_C_FUNCTION_UPDATE_STR("text", "text");
  DFTRACER_C_FUNCTION_UPDATE_DOUBLE("half", value * 0.5);
  DFTRACER_C_REGION_START(inner);
  DFTRACER_C_REGION_UPDATE_INT(inner, "a key that is longer", value);
  DFTRACER_C_REGION_END(inner);
  DFTRACER_C_INSTANT(moment);
  DFTRACER_C_METADATA(note, "key", "value");
  DFTRACER_C_FUNCTION_USES("type", "key");
  DFTRACER_C_FUNCTION_END();
  return value + 1;
}

/* This file holds the definition that others call. */
extern inline int elsewhere(int value) {
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_END();
  return value + 2;
}

static inline int inside(int value) {
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_END();
  return value + 3;
}

int user(int value) { return plain(value) + elsewhere(value) + inside(value); }
