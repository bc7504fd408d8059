/* SPDX-License-Identifier: MIT */
/* handlers MODE: the application's own ideas about signals must come true whatever the tracer has installed. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "facts.h"
#include "work.h"

static volatile sig_atomic_t calls;
static sigjmp_buf back;
static char* wanted_address;

static void count_call(int number) {
  (void)number;
  calls++;
}

static void recover(int number, siginfo_t* info, void* context) {
  (void)context;
  char on_stack;
  stack_t alternate;
  sigaltstack(NULL, &alternate);
  const char* base = (const char*)alternate.ss_sp;
  const int there = &on_stack >= base && &on_stack < base + alternate.ss_size;
  calls++;
  if (number != SIGSEGV || info->si_addr != wanted_address || !there) _exit(77);
  siglongjmp(back, 1);
}

static void install(int number, void (*handler)(int)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  if (sigaction(number, &action, NULL) != 0) abort();
}

/* Handler set before or after init: runs once, program goes on and exits 7. */
static int own_handler(int before) {
  if (before) install(SIGTERM, count_call);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  if (!before) install(SIGTERM, count_call);
  work(500);
  kill(getpid(), SIGTERM);
  work(500);
  printf("calls %d\n", (int)calls);
  return 7;
}

static int ignored(void) {
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(500);
  kill(getpid(), SIGTERM);
  kill(getpid(), SIGHUP);
  work(500);
  puts("still here");
  return 0;
}

/* A program that survives its own segmentation faults three times. */
static int recovers(void) {
  static char stack[65536];
  const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = recover;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaltstack(&alternate, NULL);
  sigaction(SIGSEGV, &action, NULL);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  for (int i = 1; i <= 3; i++) {
    wanted_address = (char*)(long)(i * 16);
    if (sigsetjmp(back, 1) == 0) *(volatile char*)wanted_address = 1;
    work(500);
  }
  printf("recovered %d times\n", (int)calls);
  return 0;
}

static const char* disposition(int number) {
  struct sigaction old;
  sigaction(number, NULL, &old);
  if ((old.sa_flags & SA_SIGINFO) != 0) return "handler";
  return old.sa_handler == SIG_DFL ? "default" : old.sa_handler == SIG_IGN ? "ignored" : "handler";
}

static int query(void) {
  signal(SIGHUP, SIG_IGN);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(100);
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  int blocked = 0;
  for (int number = 1; number < 65; number++) {
    if (sigismember(&mask, number) == 1) blocked++;
    if (number != 32 && number != 33) printf("%d %s\n", number, disposition(number));
  }
  printf("blocked %d\n", blocked);
  return 0;
}

/* Two fatal signals at once in a process with threads that are logging. */
static int two_at_once(void) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(500);
  sigset_t both, old;
  sigemptyset(&both);
  sigaddset(&both, SIGTERM);
  sigaddset(&both, SIGINT);
  sigprocmask(SIG_BLOCK, &both, &old);
  kill(getpid(), SIGTERM);
  kill(getpid(), SIGINT);
  sigprocmask(SIG_SETMASK, &old, NULL);
  return 99;
}

/* A child gets the dispositions and the mask that its parent would have given it untraced. It runs without the preload
   library, which would add its own. */
static int inherited(void) {
  char* arguments[] = {(char*)"grep", (char*)"-E", (char*)"^(SigBlk|SigIgn|SigCgt)", (char*)"/proc/self/status", NULL};
  char* environment[] = {(char*)"LC_ALL=C", NULL};
  signal(SIGHUP, SIG_IGN);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(100);
  const pid_t child = fork();
  if (child == 0) {
    execve("/bin/grep", arguments, environment);
    _exit(1);
  }
  int status;
  waitpid(child, &status, 0);
  return status != 0;
}

static void fault_again(int number) {
  (void)number;
  puts("once");
  fflush(stdout);
}

/* A handler that is there for one signal only; the second one kills. */
static int reset_hand(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = fault_again;
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGSEGV, &action, NULL);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(500);
  *(volatile int*)16 = 1;
  return 99;
}

static void needs_room(int number) {
  volatile char block[200000];
  for (size_t i = 0; i < sizeof block; i += 4096) block[i] = (char)number;
  calls++;
}

/* There is a small alternate stack, and a large handler that did not ask for it. */
static int own_stack(void) {
  enum { kPart = 32768 };
  char* memory = mmap(NULL, 16 * kPart, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory + 15 * kPart, kPart, PROT_READ | PROT_WRITE);
  const stack_t alternate = {.ss_sp = memory + 15 * kPart, .ss_size = kPart};
  sigaltstack(&alternate, NULL);
  install(SIGTERM, needs_room);
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(500);
  raise(SIGTERM);
  work(500);
  printf("calls %d\n", (int)calls);
  return 0;
}

/* read() that SIGNAL is to interrupt, because siginterrupt() said so. */
static int interrupted(int number) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(100);
  int ends[2];
  char byte;
  if (pipe(ends) != 0) return 98;
  siginterrupt(number, 1);
  signal(number, count_call);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    while (getppid() == parent && kill(parent, number) == 0) usleep(1000);
    _exit(0);
  }
  alarm(20);
  const ssize_t got = read(ends[0], &byte, 1);
  const int error = errno;
  kill(child, SIGKILL);
  struct sigaction seen;
  sigaction(number, NULL, &seen);
  printf("%s %s\n", got < 0 && error == EINTR ? "interrupted" : "?",
         seen.sa_flags & SA_RESTART ? "restarts" : "does not");
  return 0;
}

static int deep(int depth) {
  volatile char page[4096];
  page[0] = (char)depth;
  return depth == 0 ? 0 : deep(depth + 1) + page[0];
}

int main(int argc, char** argv) {
  const char* mode = argv[argc - 1];
  if (strcmp(mode, "before") == 0) return own_handler(1);
  if (strcmp(mode, "after") == 0) return own_handler(0);
  if (strcmp(mode, "ignored") == 0) return ignored();
  if (strcmp(mode, "recovers") == 0) return recovers();
  if (strcmp(mode, "query") == 0) return query();
  if (strcmp(mode, "two") == 0) return two_at_once();
  if (strcmp(mode, "inherited") == 0) return inherited();
  if (strcmp(mode, "reset") == 0) return reset_hand();
  if (strcmp(mode, "own_stack") == 0) return own_stack();
  if (strcmp(mode, "interrupted") == 0) return interrupted(atoi(argv[1]));
  if (strcmp(mode, "overflow") == 0) {
    DFTRACER_C_INIT(NULL, NULL, NULL);
    work(500);
    return deep(1);
  }
  return 99;
}
