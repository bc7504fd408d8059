/* SPDX-License-Identifier: MIT */
/* exec_chain IMAGES HOW: the program replaces itself IMAGES times; each image logs ten regions. HOW names the function
   of the exec family, which must hand on every argument and the environment as they are. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "facts.h"
#include "work.h"

extern char** environ;

static void replace(char* self, char* left, char* how) {
  char* arguments[] = {self, left, how, (char*)"a b", (char*)"", (char*)"z", NULL};
  if (strcmp(how, "execl") == 0) execl(self, self, left, how, "a b", "", "z", (char*)NULL);
  if (strcmp(how, "execlp") == 0) execlp(self, self, left, how, "a b", "", "z", (char*)NULL);
  if (strcmp(how, "execle") == 0) execle(self, self, left, how, "a b", "", "z", (char*)NULL, environ);
  if (strcmp(how, "execv") == 0) execv(self, arguments);
  if (strcmp(how, "execvp") == 0) execvp(self, arguments);
  if (strcmp(how, "execve") == 0) execve(self, arguments, environ);
  if (strcmp(how, "execvpe") == 0) execvpe(self, arguments, environ);
  if (strcmp(how, "fexecve") == 0) fexecve(open(self, O_RDONLY | O_CLOEXEC), arguments, environ);
  perror(how);
  exit(90);
}

int main(int argc, char** argv) {
  const int left = atoi(argv[1]);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  fact("pid", getpid());
  for (int i = 0; i < 10; i++) {
    DFTRACER_C_REGION_START(image);
    DFTRACER_C_REGION_UPDATE_INT(image, "left", left);
    DFTRACER_C_REGION_END(image);
  }
  printf("%d of %d:", left, argc);
  for (int i = 3; i < argc; i++) printf(" <%s>", argv[i]);
  printf("\n");
  fflush(stdout);
  execv("/no/such/program", argv); /* fails: tracing goes on */
  for (int i = 0; i < 10; i++) {
    DFTRACER_C_REGION_START(after_failure);
    DFTRACER_C_REGION_END(after_failure);
  }
  if (left == 0) return 3;
  char next[16];
  snprintf(next, sizeof next, "%d", left - 1);
  replace(argv[0], next, argv[2]);
  return 91;
}
