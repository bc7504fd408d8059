/* SPDX-License-Identifier: MIT */
/* What each caller library offers under its own handle: the same call, by each kind of slot. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif
typedef ssize_t ReadFunction(int fd, void* data, size_t size);

ssize_t caller_read(int fd, void* data, size_t size);             /* PLT */
ReadFunction* caller_read_address(void);                          /* GOT */
ssize_t caller_read_by_table(int fd, void* data, size_t size);    /* constant data word, RELRO where there is one */
ssize_t caller_read_by_variable(int fd, void* data, size_t size); /* data word that the program may change */
ReadFunction** caller_variable(void);
void* caller_old_spawn(void); /* posix_spawn of the oldest version; null where there is only one */
void* caller_spawn(void);
void* caller_old_dlerror(void); /* by a PLT slot that asks for the older of two versions of one function */
#ifdef __cplusplus
}
#endif
