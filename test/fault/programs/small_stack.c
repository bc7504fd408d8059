/* SPDX-License-Identifier: MIT */
/* small_stack WHERE CALL [warm]: a call on a small stack, the first one of the process unless it is warm.
   WHERE: thread (the smallest stack, 16 KiB), handler (an alternate stack of 8 KiB), measure (a stack that is large
   enough; fact `used`: how many of its bytes were written). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "facts.h"
#include "work.h"

#define THREAD_SIZE (16 << 10)
#define HANDLER_SIZE (8 << 10)
#define LARGE_SIZE (256 << 10)

static const char* wanted;
static char long_name[3000];

static void make_call(void) {
  const int is_fork = strcmp(wanted, "fork") == 0;
  if (strcmp(wanted, "open") == 0 || strcmp(wanted, "fork") == 0) {
    if (is_fork) {
      const pid_t child = fork();
      if (child != 0) {
        waitpid(child, NULL, 0);
        return;
      }
    }
    const int fd = open("in", O_RDONLY | O_CREAT, 0600);
    close(fd);
    if (is_fork) _exit(0);
  }
  if (strcmp(wanted, "inherited") == 0) lseek(0, 0, SEEK_CUR);
  if (strcmp(wanted, "rename") == 0) rename("absent", "other");
  if (strcmp(wanted, "chdir") == 0 && chdir("..") == 0 && chdir("cwd") != 0) abort();
  if (strcmp(wanted, "long") == 0) open(long_name, O_RDONLY);
  if (strcmp(wanted, "long_rename") == 0) rename(long_name, long_name);
  if (strcmp(wanted, "region") == 0) work_one(1);
  if (strcmp(wanted, "init") == 0) DFTRACER_C_INIT(NULL, NULL, NULL);
  if (strcmp(wanted, "link") == 0) link("absent", "other");
  if (strcmp(wanted, "fopen") == 0) {
    FILE* stream = fopen("absent", "r");
    if (stream != NULL) fclose(stream);
  }
  if (strcmp(wanted, "exit") == 0) exit(3);
  if (strcmp(wanted, "_exit") == 0) _exit(4);
  if (strcmp(wanted, "exec") == 0) execlp("true", "true", (char*)NULL);
}

static void* on_thread(void* unused) {
  make_call();
  return unused;
}

static void on_signal(int number) {
  (void)number;
  make_call();
}

static char* stack_of(size_t size) {
  char* memory = mmap(NULL, size + 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, 65536, PROT_NONE) != 0) abort();
  memset(memory + 65536, 0x5a, size);
  return memory + 65536;
}

static void run_thread(size_t size) {
  pthread_attr_t attributes;
  pthread_t thread;
  char* stack = stack_of(size);
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, stack, size) != 0) abort();
  if (pthread_create(&thread, &attributes, on_thread, NULL) != 0) abort();
  pthread_join(thread, NULL);
  size_t untouched = 0;
  while (untouched < size && stack[untouched] == 0x5a) untouched++;
  fact("used", (long)(size - untouched));
}

static void run_handler(void) {
  const stack_t stack = {.ss_sp = stack_of(HANDLER_SIZE), .ss_size = HANDLER_SIZE};
  struct sigaction action = {.sa_flags = SA_ONSTACK};
  action.sa_handler = on_signal;
  if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0) abort();
  raise(SIGUSR1);
}

int main(int count, char** words) {
  wanted = words[2];
  memset(long_name, 'x', sizeof long_name - 1);
  for (size_t i = 0; i < sizeof long_name - 1; i += 100) long_name[i] = '/';
  if (count > 3) access("in", F_OK);
  if (strcmp(words[1], "thread") == 0) run_thread(THREAD_SIZE);
  if (strcmp(words[1], "measure") == 0) run_thread(LARGE_SIZE);
  if (strcmp(words[1], "handler") == 0) run_handler();
  return 0;
}
