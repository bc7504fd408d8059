/* SPDX-License-Identifier: MIT */
/* again ROUNDS init|implicit: recording starts and ends several times in one process. */
#include "facts.h"
#include "work.h"

int main(int argc, char** argv) {
  const int rounds = atoi(argv[1]);
  const int implicit = strcmp(argv[argc - 1], "implicit") == 0;
  DFTRACER_C_INIT(NULL, NULL, NULL);
  for (int i = 0; i < rounds; i++) {
    if (i > 0 && !implicit) DFTRACER_C_INIT(NULL, NULL, NULL);
    work(100);
    DFTRACER_C_FINI();
  }
  DFTRACER_C_FINI(); /* once too often */
  puts("ok");
  return 0;
}
