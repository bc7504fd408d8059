/* SPDX-License-Identifier: MIT */
/* S17: a program that no preloaded library can reach. */
#include <stdio.h>

int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) printf("%s\n", argv[i]);
  return 6;
}
