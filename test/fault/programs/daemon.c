/* SPDX-License-Identifier: MIT */
/* daemon: the usual way into the background, every descriptor closed; the grandchild logs and says that it is done by a
   file. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "facts.h"
#include "work.h"

int main(int argc, char** argv) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(10);
  if (fork() != 0) {
    int status;
    wait(&status);
    puts("parent");
    return 0;
  }
  work(10);
  setsid();
  if (fork() != 0) exit(0);
  umask(0);
  if (chdir("/") != 0) return 1;
  for (int i = 0; i < 1024; i++) close(i);
  if (open("/dev/null", O_RDWR) != 0) return 1;
  if (dup(0) != 1 || dup(0) != 2) return 1;
  for (int i = 0; i < 1000; i++) {
    DFTRACER_C_REGION_START(in_daemon);
    DFTRACER_C_REGION_END(in_daemon);
  }
  fact("daemon", getpid());
  return 0;
}
