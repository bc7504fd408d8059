/* SPDX-License-Identifier: MIT */
/* Stands in front of pthread_create, as sanitizers and profilers do, and makes calls of its own on every new thread,
 * before and after that one's function. With -DOWN_HANDLES its pthread_t are numbers of its own, which only its join
 * takes, and which it hands out when the thread runs already. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "facts.h"

struct start {
  void* (*function)(void*);
  void* word;
};
static atomic_int started;

static void look(const char* name) {
  int ends[2];
  const int fd = open(name, O_RDONLY);  // there is none
  if (fd >= 0 || pipe(ends) != 0 || dup2(ends[1], ends[0]) < 0 || close(ends[0]) != 0 || close(ends[1]) != 0) abort();
}

#ifdef OWN_HANDLES
#define HANDLES 64
static pthread_t handles[HANDLES];
static atomic_int made;

static pthread_t hand_out(pthread_t real) {
  const int index = made++;
  if (index >= HANDLES) abort();
  handles[index] = real;
  return (pthread_t)index + 1;
}

int pthread_join(pthread_t thread, void** result) {
  typedef int join(pthread_t, void**);
  if (thread == 0 || thread > HANDLES) abort();
  return ((join*)dlsym(RTLD_NEXT, "pthread_join"))(handles[thread - 1], result);
}
#else
static pthread_t hand_out(pthread_t real) { return real; }
#endif

static void* begin(void* memory) {
  struct start start = *(struct start*)memory;
  free(memory);
  started++;
  look("born");
  void* result = start.function(start.word);
  look("gone");
  return result;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* word) {
  typedef int create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  struct start* start = malloc(sizeof *start);
  *start = (struct start){function, word};
  pthread_t real = 0;
  const int error = ((create*)dlsym(RTLD_NEXT, "pthread_create"))(&real, attributes, begin, start);
  if (error == 0) *thread = hand_out(real);
  return error;
}

__attribute__((destructor)) static void tell(void) { fact("started", started); }
