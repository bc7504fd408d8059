/* SPDX-License-Identifier: MIT */
/* memory_limit EXTRA_KIB COUNT: an address space that has room for EXTRA_KIB more than the program has when it starts.
 */
#include <pthread.h>
#include <sys/resource.h>

#include "facts.h"
#include "work.h"

int main(int argc, char** argv) {
  unsigned long pages = 0;
  FILE* sizes = fopen("/proc/self/statm", "r");
  if (sizes == NULL || fscanf(sizes, "%lu", &pages) != 1) return 1;
  fclose(sizes);
  const rlim_t limit = pages * 4096 + (rlim_t)atol(argv[1]) * 1024;
  const struct rlimit tight = {limit, limit};
  if (setrlimit(RLIMIT_AS, &tight) != 0) return 2;
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(atoi(argv[argc - 1]));
  DFTRACER_C_FINI();
  puts("done");
  return 0;
}
