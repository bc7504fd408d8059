// SPDX-License-Identifier: MIT
// Purpose: declarations of the wrappers and the real functions, for the files that define them.
// Threads: any; wrappers run in signal handlers and in vfork children.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include "intercept/process_functions.h"
#include "intercept/process_hooks.h"
#include "intercept/real_function.h"

namespace dft::intercept {

#define DFT_DECLARE_REAL(row, name) extern RealFunction real_##name;
DFT_PROCESS_FUNCTIONS(DFT_DECLARE_REAL)
DFT_PROCESS_FUNCTIONS_IN_ASSEMBLY(DFT_DECLARE_REAL)
DFT_LOOKUP_FUNCTIONS(DFT_DECLARE_REAL)
#undef DFT_DECLARE_REAL

[[noreturn]] void wrap__exit(int status);
[[noreturn]] void wrap__Exit(int status);
[[noreturn]] void wrap_quick_exit(int status);
pid_t wrap_fork();
int wrap_sigaction(int signal, const struct sigaction* wanted, struct sigaction* old);
SignalHandler wrap_signal(int signal, SignalHandler handler);

int wrap_execve(const char* path, char* const* arguments, char* const* environment);
int wrap_execv(const char* path, char* const* arguments);
int wrap_execvp(const char* file, char* const* arguments);
int wrap_execvpe(const char* file, char* const* arguments, char* const* environment);
int wrap_execl(const char* path, const char* first, ...);
int wrap_execlp(const char* file, const char* first, ...);
int wrap_execle(const char* path, const char* first, ...);
int wrap_fexecve(int fd, char* const* arguments, char* const* environment);
int wrap_execveat(int fd, const char* path, char* const* arguments, char* const* environment, int flags);
using SpawnCall = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                      char* const*);
SpawnCall wrap_posix_spawn, wrap_posix_spawnp;

#if defined(__x86_64__)
pid_t wrap_vfork() __asm__("dft_wrap_vfork");
void* wrap_dlopen(const char* file, int mode) __asm__("dft_wrap_dlopen");
void* wrap_dlsym(void* handle, const char* name) __asm__("dft_wrap_dlsym");
void* wrap_dlvsym(void* handle, const char* name, const char* version) __asm__("dft_wrap_dlvsym");
#endif

}  // namespace dft::intercept
