/* SPDX-License-Identifier: MIT */
/* The unit of work of most test programs: one region `work` with the running number as its arg `i`. */
#pragma once

#include <dftracer/dftracer.h>

static inline void work_one(int i) {
  DFTRACER_C_REGION_START(work);
  DFTRACER_C_REGION_UPDATE_INT(work, "i", i);
  DFTRACER_C_REGION_END(work);
}

static inline void work(int count) {
  for (int i = 0; i < count; i++) work_one(i);
}
