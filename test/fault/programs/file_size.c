/* SPDX-License-Identifier: MIT */
/* file_size LIMIT COUNT default|handled: RLIMIT_FSIZE is the application's affair: its own write past the limit shows
   what it would untraced, and the tracer's writes send it no SIGXFSZ. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "facts.h"
#include "work.h"

static volatile sig_atomic_t calls;

static void on_signal(int number) {
  (void)number;
  calls++;
}

int main(int argc, char** argv) {
  const rlim_t limit = (rlim_t)atol(argv[1]);
  const struct rlimit tight = {limit, limit};
  const int handled = strcmp(argv[argc - 1], "handled") == 0;
  if (handled) signal(SIGXFSZ, on_signal);
  setrlimit(RLIMIT_FSIZE, &tight);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  for (int i = 0; i < atoi(argv[2]); i++) {
    DFTRACER_C_REGION_START(work);
    DFTRACER_C_REGION_UPDATE_INT(work, "i", i);
    DFTRACER_C_REGION_UPDATE_INT(work, "hash", (int)((unsigned)i * 2654435761u >> 1));
    DFTRACER_C_REGION_END(work);
  }
  printf("calls %d\n", (int)calls);
  fflush(stdout);
  if (handled) {
    const int fd = open("own", O_WRONLY | O_CREAT, 0600);
    const ssize_t written = pwrite(fd, "x", 1, (off_t)limit);
    printf("%zd %s calls %d\n", written, strerror(errno), (int)calls);
  }
  DFTRACER_C_FINI();
  printf("end calls %d\n", (int)calls);
  return 0;
}
