/* SPDX-License-Identifier: MIT */
/* app_metadata KEYS ROUNDS: notes KEYS values ROUNDS times each, and marks as many names. */
#include "facts.h"
#include "work.h"

int main(int argc, char** argv) {
  const int keys = argc > 1 ? atoi(argv[1]) : 0, rounds = argc > 2 ? atoi(argv[2]) : 0;
  DFTRACER_C_INIT(NULL, NULL, NULL);
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < keys; i++) {
      char key[32];
      snprintf(key, sizeof key, "key%d", i);
      DFTRACER_C_APP_METADATA_INT(key, round * 1000 + i);
      DFTRACER_C_MARK_USED(key);
    }
  }
  work(10);
  DFTRACER_C_FINI();
  puts("done");
  return 0;
}
