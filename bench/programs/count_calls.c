// SPDX-License-Identifier: MIT
// Purpose: preloaded into a benchmark program, counts heap allocations and taken locks of the whole process (its
//          background threads included), for the rows "heap allocations an event" and "locks an event".
// Threads: any. Locks that a statically linked library takes by its own instructions are not seen here; the instruction
//          gate (check_budgets.py) counts executed lock-prefixed instructions instead.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static _Atomic uint64_t allocations, locks;

uint64_t bench_count_allocations(void) { return allocations; }
uint64_t bench_count_locks(void) { return locks; }

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  void* memory = memalign(alignment, size);
  if (!memory) return ENOMEM;
  *out = memory;
  return 0;
}

typedef int (*mutex_function)(pthread_mutex_t*);
typedef int (*rwlock_function)(pthread_rwlock_t*);
static mutex_function real_mutex_lock;
static rwlock_function real_rdlock, real_wrlock;

static void* next(const char* name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void find_real_functions(void) {
  void* symbols[3] = {next("pthread_mutex_lock"), next("pthread_rwlock_rdlock"), next("pthread_rwlock_wrlock")};
  memcpy(&real_mutex_lock, &symbols[0], sizeof symbols[0]);
  memcpy(&real_rdlock, &symbols[1], sizeof symbols[1]);
  memcpy(&real_wrlock, &symbols[2], sizeof symbols[2]);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  ++locks;
  if (!real_mutex_lock) find_real_functions();
  return real_mutex_lock(mutex);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  ++locks;
  if (!real_rdlock) find_real_functions();
  return real_rdlock(lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  ++locks;
  if (!real_wrlock) find_real_functions();
  return real_wrlock(lock);
}
