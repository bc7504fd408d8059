/* SPDX-License-Identifier: MIT */
/* nofile LIMIT before|after: how many files a program can open must not depend on the tracer. */
#include <errno.h>
#include <sys/resource.h>

#include "facts.h"
#include "work.h"

int main(int argc, char** argv) {
  const rlim_t limit = (rlim_t)atoi(argv[1]);
  const struct rlimit tight = {limit, limit};
  const int before = strcmp(argv[argc - 1], "before") == 0;
  if (before) setrlimit(RLIMIT_NOFILE, &tight);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  if (!before) setrlimit(RLIMIT_NOFILE, &tight);
  work(1000);
  int opened = 0;
  while (open("/dev/null", O_RDONLY) >= 0) opened++;
  printf("opened %d, then %s\n", opened, strerror(errno));
  fflush(stdout);
  work(1000);
  return 0;
}
