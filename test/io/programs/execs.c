/* SPDX-License-Identifier: MIT */
/* execs HOW [shown words]: becomes itself by one of the exec functions, which then shows its words. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

int main(int count, char** words) {
  const char* self = words[0];
  char* list[] = {"shown", "show", "a", "", "c d", NULL};
  if (strcmp(words[1], "show") == 0) {
    for (int i = 2; i < count; i++) printf("%d:%s\n", i, words[i]);
    return 0;
  }
  if (strcmp(words[1], "execl") == 0) execl(self, "shown", "show", "a", "", "c d", (char*)NULL);
  if (strcmp(words[1], "execlp") == 0) execlp(self, "shown", "show", "a", "", "c d", (char*)NULL);
  if (strcmp(words[1], "execle") == 0) execle(self, "shown", "show", "a", "", "c d", (char*)NULL, environ);
  if (strcmp(words[1], "execv") == 0) execv(self, list);
  if (strcmp(words[1], "execvp") == 0) execvp(self, list);
  if (strcmp(words[1], "fails") == 0) {
    execl("/no/such", "x", (char*)NULL);
    perror("execl");
    return 5;
  }
  return 1;
}
