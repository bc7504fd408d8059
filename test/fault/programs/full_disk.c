/* SPDX-License-Identifier: MIT */
/* full_disk BIG SMALL: BIG regions that do not fit, waits for the test to make room, SMALL regions. The program's own
   file in its directory must come out whole. */
#include "facts.h"
#include "work.h"

static void wide(int i) {
  /* args that do not compress well */
  char text[64];
  unsigned state = (unsigned)i * 2654435761u;
  for (int k = 0; k < 60; k++) {
    state = state * 1664525u + 1013904223u;
    text[k] = (char)('!' + state % 90);
    if (text[k] == '"' || text[k] == '\\') text[k] = '_';
  }
  text[60] = 0;
  DFTRACER_C_REGION_START(work);
  DFTRACER_C_REGION_UPDATE_INT(work, "i", i);
  DFTRACER_C_REGION_UPDATE_STR(work, "noise", text);
  DFTRACER_C_REGION_END(work);
}

int main(int argc, char** argv) {
  const int big = atoi(argv[1]), small = atoi(argv[2]);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  FILE* own = fopen("own", "w");
  for (int i = 0; i < big; i++) {
    wide(i);
    if (i % 1000 == 0) fprintf(own, "%d\n", i);
  }
  if (fclose(own) != 0) return 2;
  printf("waiting\n");
  fflush(stdout);
  if (argc > 3) wait_for_test();
  for (int i = 0; i < small; i++) wide(i);
  DFTRACER_C_FINI();
  printf("done\n");
  return 0;
}
