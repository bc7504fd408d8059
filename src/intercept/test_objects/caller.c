/* SPDX-License-Identifier: MIT */
#include "caller.h"

#include <spawn.h>
#include <unistd.h>

ssize_t caller_read(int fd, void* data, size_t size) { return read(fd, data, size); }

struct Functions {
  ReadFunction* read_function;
};
static const struct Functions table = {read};
const struct Functions* volatile caller_table = &table;
ssize_t caller_read_by_table(int fd, void* data, size_t size) { return caller_table->read_function(fd, data, size); }

static ReadFunction* variable = read;
ReadFunction** caller_variable(void) { return &variable; }
ssize_t caller_read_by_variable(int fd, void* data, size_t size) {
  return (*(ReadFunction* volatile*)&variable)(fd, data, size);
}

/* A library that takes the address in its code has a GOT slot, and its calls go through that: no PLT slot is left. */
#ifdef CALLER_HAS_PLT_SLOT
ReadFunction* caller_read_address(void) { return caller_table->read_function; }
#else
ReadFunction* caller_read_address(void) { return read; }
#endif

void* caller_spawn(void) { return (void*)posix_spawn; }
#if defined(__x86_64__)
extern int old_spawn(void);
__asm__(".symver old_spawn, posix_spawn@GLIBC_2.2.5");
void* caller_old_spawn(void) { return (void*)old_spawn; }
extern void* old_dlerror(void);
__asm__(".symver old_dlerror, dlerror@GLIBC_2.2.5");
void* caller_old_dlerror(void) { return old_dlerror(); }
#else
void* caller_old_spawn(void) { return NULL; }
void* caller_old_dlerror(void) { return NULL; }
#endif
