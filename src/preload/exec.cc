// SPDX-License-Identifier: MIT
// The exec family and posix_spawn. Before an exec that will work, recording ends with everything written; when it fails
// after all, recording starts again. All of them also run in vfork children: no malloc, no shared state there.
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

#include "base/raw_io.h"
#include "intercept/real_function.h"
#include "session/lifecycle.h"

#define DFT_INTERCEPT(name) __asm__(name) __attribute__((visibility("default")))

namespace {

using dft::intercept::RealFunction;
RealFunction<int(const char*, char* const*, char* const*)> real_execve("execve");
RealFunction<int(const char*, char* const*, char* const*)> real_execvpe("execvpe");
RealFunction<int(int, char* const*, char* const*)> real_fexecve("fexecve");
RealFunction<int(int, const char*, char* const*, char* const*, int)> real_execveat("execveat");
using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                  char* const*);
RealFunction<Spawn> real_posix_spawn("posix_spawn");
RealFunction<Spawn> real_posix_spawnp("posix_spawnp");

// The first call may be in a signal handler or in a vfork child: dlsym takes the dynamic linker's lock.
__attribute__((constructor)) void look_up() {
  real_execve.get();
  real_execvpe.get();
  real_fexecve.get();
  real_execveat.get();
  real_posix_spawn.get();
  real_posix_spawnp.get();
}

constexpr std::size_t kPathRoom = 4096;
constexpr char kLogFile[] = "DFTRACER_LOG_FILE=";

std::size_t count(char* const* list) {
  std::size_t n = 0;
  while (list != nullptr && list[n] != nullptr) ++n;
  return n;
}

// The environment with DFTRACER_LOG_FILE replaced or added, in memory of the caller's frame.
void with_log_file(char* const* environment, char* log_file, char** out) {
  std::size_t at = 0;
  bool replaced = false;
  for (; *environment != nullptr; ++environment) {
    const bool same = strncmp(*environment, kLogFile, sizeof kLogFile - 1) == 0;
    out[at++] = same ? log_file : *environment;
    replaced = replaced || same;
  }
  if (!replaced) out[at++] = log_file;
  out[at] = nullptr;
}

// Gives `environment` to a child, with an absolute trace prefix where it has a relative one. A macro-free way to keep
// alloca in the calling frame: the callers pass the room.
struct ChildEnvironment {
  char log_file[kPathRoom + sizeof kLogFile];
  char* const* choose(char* const* environment, char** room) {
    if (dftracer_child_log_file(environment, log_file, sizeof log_file) == 0) return environment;
    with_log_file(environment, log_file, room);
    return room;
  }
};
#define DFT_ENVIRONMENT_ROOM(environment) static_cast<char**>(alloca((count(environment) + 2) * sizeof(char*)))

bool executable(const char* path) {
  return dft::base::raw::call(SYS_faccessat, AT_FDCWD, reinterpret_cast<long>(path), X_OK) == 0;
}

// Where execvp would find `file`; null when nowhere. REQUIRES: room of kPathRoom bytes.
const char* find_in_path(const char* file, char* room) {
  if (strchr(file, '/') != nullptr) return file;
  const char* path = getenv("PATH");
  if (path == nullptr) path = "/bin:/usr/bin";
  const std::size_t file_size = strlen(file) + 1;
  while (true) {
    const char* end = strchrnul(path, ':');
    const auto length = static_cast<std::size_t>(end - path);
    if (length + 1 + file_size <= kPathRoom) {
      memcpy(room, path, length);
      room[length] = '/';
      memcpy(room + length + 1, file, file_size);
      if (executable(length != 0 ? room : file)) return room;
    }
    if (*end == '\0') return nullptr;
    path = end + 1;
  }
}

int fail_or_return(int result, int ended) {
  const int error = errno;
  dftracer_exec_failed(ended);
  errno = error;
  return result;
}

int traced_execve(const char* path, char* const* arguments, char* const* environment) {
  ChildEnvironment child;
  char* const* chosen = child.choose(environment, DFT_ENVIRONMENT_ROOM(environment));
  const int ended = dftracer_before_exec(path);
  return fail_or_return(real_execve.get()(path, arguments, chosen), ended);
}

int traced_execvpe(const char* file, char* const* arguments, char* const* environment) {
  ChildEnvironment child;
  char* const* chosen = child.choose(environment, DFT_ENVIRONMENT_ROOM(environment));
  char room[kPathRoom];
  const char* found = file != nullptr ? find_in_path(file, room) : nullptr;
  const int ended = found != nullptr ? dftracer_before_exec(found) : 0;
  return fail_or_return(real_execvpe.get()(file, arguments, chosen), ended);
}

}  // namespace

extern "C" {

int dft_execve(const char* path, char* const* arguments, char* const* environment) DFT_INTERCEPT("execve");
int dft_execve(const char* path, char* const* arguments, char* const* environment) {
  return traced_execve(path, arguments, environment);
}

int dft_execv(const char* path, char* const* arguments) DFT_INTERCEPT("execv");
int dft_execv(const char* path, char* const* arguments) { return traced_execve(path, arguments, environ); }

int dft_execvp(const char* file, char* const* arguments) DFT_INTERCEPT("execvp");
int dft_execvp(const char* file, char* const* arguments) { return traced_execvpe(file, arguments, environ); }

int dft_execvpe(const char* file, char* const* arguments, char* const* environment) DFT_INTERCEPT("execvpe");
int dft_execvpe(const char* file, char* const* arguments, char* const* environment) {
  return traced_execvpe(file, arguments, environment);
}

// The variadic forms: the list is counted, then copied to an array in this frame.
#define DFT_COLLECT(first, last_list, arguments)                                \
  std::size_t number = 1;                                                       \
  va_start(last_list, first);                                                   \
  while (va_arg(last_list, char*) != nullptr) ++number;                         \
  va_end(last_list);                                                            \
  auto** arguments = static_cast<char**>(alloca((number + 1) * sizeof(char*))); \
  arguments[0] = const_cast<char*>(first);                                      \
  va_start(last_list, first);                                                   \
  for (std::size_t i = 1; i <= number; ++i) arguments[i] = va_arg(last_list, char*)

int dft_execl(const char* path, const char* first, ...) DFT_INTERCEPT("execl");
int dft_execl(const char* path, const char* first, ...) {
  va_list list;
  DFT_COLLECT(first, list, arguments);
  va_end(list);
  return traced_execve(path, arguments, environ);
}

int dft_execlp(const char* file, const char* first, ...) DFT_INTERCEPT("execlp");
int dft_execlp(const char* file, const char* first, ...) {
  va_list list;
  DFT_COLLECT(first, list, arguments);
  va_end(list);
  return traced_execvpe(file, arguments, environ);
}

int dft_execle(const char* path, const char* first, ...) DFT_INTERCEPT("execle");
int dft_execle(const char* path, const char* first, ...) {
  va_list list;
  DFT_COLLECT(first, list, arguments);
  char* const* environment = va_arg(list, char* const*);
  va_end(list);
  return traced_execve(path, arguments, environment);
}

int dft_fexecve(int fd, char* const* arguments, char* const* environment) DFT_INTERCEPT("fexecve");
int dft_fexecve(int fd, char* const* arguments, char* const* environment) {
  ChildEnvironment child;
  char* const* chosen = child.choose(environment, DFT_ENVIRONMENT_ROOM(environment));
  const int ended = dftracer_before_exec(nullptr);
  return fail_or_return(real_fexecve.get()(fd, arguments, chosen), ended);
}

int dft_execveat(int fd, const char* path, char* const* arguments, char* const* environment, int flags)
    DFT_INTERCEPT("execveat");
int dft_execveat(int fd, const char* path, char* const* arguments, char* const* environment, int flags) {
  ChildEnvironment child;
  char* const* chosen = child.choose(environment, DFT_ENVIRONMENT_ROOM(environment));
  const int ended = dftracer_before_exec(nullptr);
  return fail_or_return(real_execveat.get()(fd, path, arguments, chosen, flags), ended);
}

int dft_posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                    const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment)
    DFT_INTERCEPT("posix_spawn");
int dft_posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                    const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  ChildEnvironment child;
  char* const* chosen = child.choose(environment, DFT_ENVIRONMENT_ROOM(environment));
  return real_posix_spawn.get()(pid, path, actions, attributes, arguments, chosen);
}

int dft_posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                     const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment)
    DFT_INTERCEPT("posix_spawnp");
int dft_posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                     const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  ChildEnvironment child;
  char* const* chosen = child.choose(environment, DFT_ENVIRONMENT_ROOM(environment));
  return real_posix_spawnp.get()(pid, file, actions, attributes, arguments, chosen);
}
}
