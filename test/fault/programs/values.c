/* SPDX-License-Identifier: MIT */
/* values: args at the edges of their types, NaN and the infinities among them. */
#include <float.h>
#include <math.h>
#include <stdint.h>

#include "facts.h"
#include "work.h"

int main(void) {
  static const double doubles[] = {NAN,     INFINITY, -INFINITY,      0.0,        -0.0,
                                   1.5,     0.1,      1234567890.123, 16777217.0, 1e300,
                                   DBL_MAX, DBL_MIN,  DBL_TRUE_MIN,   -2.5e-10,   123456789012345678.0};
  DFTRACER_C_INIT(NULL, NULL, NULL);
  for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
    DFTRACER_C_REGION_START(real);
    DFTRACER_C_REGION_UPDATE_INT(real, "number", (int)i);
    DFTRACER_C_REGION_UPDATE_DOUBLE(real, "value", doubles[i]);
    DFTRACER_C_REGION_END(real);
  }
  DFTRACER_C_REGION_START(whole);
  DFTRACER_C_REGION_UPDATE_INT(whole, "int_min", INT32_MIN);
  DFTRACER_C_REGION_UPDATE_INT64(whole, "int64_min", INT64_MIN);
  DFTRACER_C_REGION_UPDATE_INT64(whole, "int64_max", INT64_MAX);
  DFTRACER_C_REGION_UPDATE_UINT64(whole, "uint64_max", UINT64_MAX);
  DFTRACER_C_REGION_UPDATE_BOOL(whole, "yes", 42);
  DFTRACER_C_REGION_UPDATE_BOOL(whole, "no", 0);
  DFTRACER_C_REGION_UPDATE_STR(whole, "empty", "");
  DFTRACER_C_REGION_UPDATE_STR(whole, "null", NULL);
  DFTRACER_C_REGION_UPDATE_STR(whole, NULL, "no key");
  DFTRACER_C_REGION_UPDATE_STR(whole, "", "empty key");
  DFTRACER_C_REGION_UPDATE_INT(whole, "twice", 1);
  DFTRACER_C_REGION_UPDATE_STR(whole, "twice", "second");
  DFTRACER_C_REGION_UPDATE_INT(whole, "hhash", 7);
  DFTRACER_C_REGION_END(whole);
  DFTRACER_C_REGION_START(many);
  for (int i = 0; i < 1000; i++) {
    char key[16];
    snprintf(key, sizeof key, "k%d", i);
    DFTRACER_C_REGION_UPDATE_INT(many, key, i);
  }
  DFTRACER_C_REGION_END(many);
  puts("ok");
  return 0;
}
