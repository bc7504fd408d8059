/* SPDX-License-Identifier: MIT */
/* data_as_stderr closed|kept: a program that writes nothing on stderr. `closed`: it closes its standard descriptors and
   gets their numbers back for files of its own. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "work.h"

static int replace_standard_descriptors(void) {
  for (int fd = 0; fd < 3; fd++) close(fd);
  for (int fd = 0; fd < 3; fd++) {
    char name[8];
    snprintf(name, sizeof name, "data%d", fd);
    if (open(name, O_CREAT | O_WRONLY, 0600) != fd || write(fd, "data", 4) != 4) return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  if (strcmp(argv[argc - 1], "closed") == 0 && !replace_standard_descriptors()) return 1;
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(10);
  return 0;
}
