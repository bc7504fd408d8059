/* SPDX-License-Identifier: MIT */
/* A program that is built with a sanitizer: I/O on two threads, children, handlers. Whatever its runtime reports
   changes its exit status. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef ANNOTATED
#include <dftracer/dftracer.h>
#else
#define DFTRACER_C_INIT(a, b, c)
#endif

static void* io(void* name) {
  for (int i = 0; i < 50; ++i) {
    char text[16];
    const int fd = open((const char*)name, O_CREAT | O_RDWR | O_TRUNC, 0600);
    if (write(fd, "abc", 3) != 3 || close(fd) != 0) abort();
    FILE* stream = fopen((const char*)name, "r");
    if (fread(text, 1, 3, stream) != 3 || fclose(stream) != 0) abort();
  }
  return NULL;
}

int main(void) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  pthread_t thread;
  if (pthread_create(&thread, NULL, io, "a") != 0) return 90;
  io("b");
  pthread_join(thread, NULL);
  signal(SIGUSR1, SIG_IGN);
  raise(SIGUSR1);
  const pid_t pid = fork();
  if (pid == 0) _exit(5);
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 5) return 91;
  free(malloc(10));
  puts("done");
  return 0;
}
