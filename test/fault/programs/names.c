/* SPDX-License-Identifier: MIT */
/* names FILE [notes]: the file holds strings, each ended by a newline, its bytes written in hex. Every string becomes a
   note of the process; without `notes` also the name, the category, an arg's key and an arg's value of some event. */
#include "facts.h"
#include "work.h"

enum { kLongest = 200000 };

static size_t unhex(const char* line, char* out) {
  size_t size = 0;
  unsigned byte;
  while (sscanf(line + 2 * size, "%2x", &byte) == 1) out[size++] = (char)byte;
  out[size] = 0;
  return size;
}

int main(int argc, char** argv) {
  static char line[2 * kLongest + 2], text[kLongest + 1];
  const int notes_only = argc > 2;
  FILE* file = fopen(argv[1], "r");
  if (file == NULL) return 1;
  DFTRACER_C_INIT(NULL, NULL, NULL);
  int count = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    const size_t size = unhex(line, text);
    count++;
    DFTRACER_C_METADATA(note, "note", text);
    DFTRACER_C_APP_METADATA_STR(text, text);
    DFTRACER_C_MARK_USED(text);
    if (notes_only) continue;
#ifndef DFTRACER_DISABLE
    struct DFTracerData* region = dftracer_initialize_region(text, "NAMED", 0);
    dftracer_region_update_int64(region, "number", count);
    dftracer_finalize_region(region);
    region = dftracer_initialize_region("category", text, 0);
    dftracer_region_update_int64(region, "number", count);
    dftracer_finalize_region(region);
    region = dftracer_initialize_region("value", "VALUE", 0);
    dftracer_region_update_int64(region, "number", count);
    dftracer_region_update_strn(region, "text", text, size);
    dftracer_finalize_region(region);
    region = dftracer_initialize_region("key", "KEY", 0);
    dftracer_region_update_int64(region, "number", count);
    dftracer_region_update_str(region, text, "under that key");
    dftracer_finalize_region(region);
    region = dftracer_initialize_region("after", "AFTER", 0);
    dftracer_finalize_region(region);
#endif
  }
  printf("%d strings\n", count);
  return 0;
}
