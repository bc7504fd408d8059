/* SPDX-License-Identifier: MIT */
/* A region whose line is longer than 64 MiB: bytes that take six each when they are escaped. */
#include <string.h>

#include "facts.h"
#include "work.h"

int main(void) {
  enum { kBytes = 12 << 20 };
  char* text = (char*)malloc(kBytes + 1);
  if (text == NULL) return 1;
  memset(text, 1, kBytes);
  text[kBytes] = 0;
  DFTRACER_C_INIT(NULL, NULL, NULL);
  DFTRACER_C_REGION_START(longest);
  DFTRACER_C_REGION_UPDATE_STR(longest, "text", text);
  DFTRACER_C_REGION_END(longest);
  DFTRACER_C_REGION_START(after);
  DFTRACER_C_REGION_END(after);
  DFTRACER_C_FINI();
  free(text);
  puts("done");
  return 0;
}
