/* SPDX-License-Identifier: MIT */
/* memory_gone COUNT: no page can be mapped any more once recording runs. */
#include <sys/resource.h>

#include "facts.h"
#include "work.h"

int main(int argc, char** argv) {
  const struct rlimit none = {0, 0};
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(1000);
  if (argc < 2 || setrlimit(RLIMIT_AS, &none) != 0) return 2;
  work(atoi(argv[1]));
  return 3;
}
