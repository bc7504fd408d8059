/* SPDX-License-Identifier: MIT */
/* S24, S27, S28, S31, S35, S36: I/O at odd moments of a process. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void one_byte(const char* path) {
  const int fd = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
  if (write(fd, "x", 1) != 1) abort();
  close(fd);
}

static int errors(int loops) {
  char byte[8];
  errno = 77;
  const int fd = open("in", O_RDONLY);
  printf("open %d\n", errno);
  errno = 77;
  if (read(fd, byte, 8) != 8) return 1;
  printf("read %d\n", errno);
  errno = 0;
  if (read(-1, byte, 8) < 0) printf("read -1 %d\n", errno);
  errno = 0;
  FILE* none = fopen("no/such", "r");
  printf("fopen %d %d\n", errno, none == NULL);
  for (int i = 0; i < loops; i++) {
    errno = 77;
    if (pread(fd, byte, 1, 0) != 1 || errno != 77) return printf("errno %d at %d\n", errno, i), 2;
  }
  errno = 77;
  close(fd);
  printf("close %d\n", errno);
  return 0;
}

static pthread_key_t key;
static int rounds;
static void at_thread_exit(void* value) {
  one_byte("late");
  if (++rounds < 4) pthread_setspecific(key, value);
}
static void* short_thread(void* value) {
  close(open("in", O_RDONLY));
  pthread_setspecific(key, value);
  return NULL;
}
static int thread_exits(int threads) {
  pthread_key_create(&key, at_thread_exit);
  for (int i = 0; i < threads; i++) {
    pthread_t thread;
    rounds = 0;
    pthread_create(&thread, NULL, short_thread, &key);
    pthread_join(thread, NULL);
  }
  return 0;
}

static void at_exit(void) { one_byte("at_exit"); }
static const char* ending;
__attribute__((destructor)) static void in_destructor(void) {
  if (ending != NULL) one_byte("destructor");
}
static void* endless(void* unused) {
  (void)unused;
  for (;;) one_byte("endless");
}
static int last_moments(void) {
  ending = "yes";
  atexit(at_exit);
  pthread_t thread;
  pthread_create(&thread, NULL, endless, NULL);
  pthread_detach(thread);
  one_byte("main");
  return 3;
}

static int vforks(int loops) {
  for (int i = 0; i < loops; i++) {
    const pid_t child = vfork();
    if (child == 0) {
      if (i & 1) {
        const int fd = open("in", O_RDONLY);
        (void)fd;
        execl("/bin/true", "true", (char*)NULL);
      }
      _exit(i & 1 ? 127 : 3);
    }
    int status;
    waitpid(child, &status, 0);
    if (WEXITSTATUS(status) != (i & 1 ? 0 : 3)) return 1;
    close(open("parent", O_RDONLY));
  }
  return puts("ok") < 0;
}

static int handler_fd;
static volatile sig_atomic_t handled;
static void on_alarm(int number) {
  (void)number;
  const int error = errno;
  if (write(handler_fd, "x", 1) == 1) handled++;
  errno = error;
}
static int in_handlers(int wanted) {
  handler_fd = open("ticks", O_CREAT | O_WRONLY | O_APPEND, 0600);
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval every = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &every, NULL);
  while (handled < wanted) {
    char byte;
    const int fd = open("in", O_RDONLY);
    if (read(fd, &byte, 1) != 1) return 1;
    close(fd);
    free(malloc(1000));
  }
  setitimer(ITIMER_REAL, &never, NULL);
  struct stat info;
  fstat(handler_fd, &info);
  ftruncate(handler_fd, 0);
  return info.st_size != handled;
}

static int all_closed(int loops) {
  for (int i = 0; i < 300; i++) close(open("in", O_RDONLY));
  for (int i = 3; i < 1024; i++) close(i);
  int files[40];
  char name[] = "mine.XX", byte;
  for (int i = 0; i < 40; i++) {
    name[5] = (char)('a' + i / 26);
    name[6] = (char)('a' + i % 26);
    files[i] = open(name, O_CREAT | O_TRUNC | O_RDWR, 0600);
  }
  for (int i = 0; i < loops; i++) {
    if (pread(files[i % 40], &byte, 1, 0) < 0) return 1;
  }
  for (int i = 0; i < 40; i++) {
    struct stat info;
    if (fstat(files[i], &info) != 0 || info.st_size != 0) return 9;
  }
  return 0;
}

int main(int count, char** words) {
  const int amount = count > 2 ? atoi(words[2]) : 0;
  if (strcmp(words[1], "errors") == 0) return errors(amount);
  if (strcmp(words[1], "thread_exits") == 0) return thread_exits(amount);
  if (strcmp(words[1], "last") == 0) return last_moments();
  if (strcmp(words[1], "vforks") == 0) return vforks(amount);
  if (strcmp(words[1], "handlers") == 0) return in_handlers(amount);
  return all_closed(amount);
}
