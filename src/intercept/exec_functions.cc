// SPDX-License-Identifier: MIT
// The exec family and posix_spawn. Before an exec that will work, recording ends with everything written; when it fails
// after all, recording starts again. All of them also run in vfork children: no malloc, no shared state there.
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

#include "base/raw_io.h"
#include "intercept/process_wrappers.h"

namespace dft::intercept {

namespace {

constexpr std::size_t kPathRoom = 4096;
constexpr std::size_t kVariableRoom = kPathRoom + 32;

std::size_t count(char* const* list) {
  std::size_t n = 0;
  while (list != nullptr && list[n] != nullptr) ++n;
  return n;
}

// The environment with one variable replaced or added, in memory of the caller's frame; `out` may be `environment`.
void with_variable(char* const* environment, char* variable, char** out) {
  const auto name_size = static_cast<std::size_t>(strchr(variable, '=') + 1 - variable);
  std::size_t at = 0;
  bool replaced = false;
  for (; *environment != nullptr; ++environment) {
    const bool same = strncmp(*environment, variable, name_size) == 0;
    out[at++] = same ? variable : *environment;
    replaced = replaced || same;
  }
  if (!replaced) out[at++] = variable;
  out[at] = nullptr;
}

// Gives `environment` to a child, with an absolute trace prefix where it has a relative one, and with what an init call
// chose in place of the configuration. A macro-free way to keep alloca in the calling frame: the callers pass the room.
struct ChildEnvironment {
  char log_file[kVariableRoom];
  char data_dirs[kVariableRoom];
  char* const* choose(const ProcessHooks& hooks, char* const* environment, char** room) {
    char* const* chosen = environment;
    if (hooks.child_log_file(environment, log_file, sizeof log_file)) {
      with_variable(chosen, log_file, room);
      chosen = room;
    }
    if (hooks.child_data_dirs(environment, data_dirs, sizeof data_dirs)) {
      with_variable(chosen, data_dirs, room);
      chosen = room;
    }
    return chosen;
  }
};
#define DFT_ENVIRONMENT_ROOM(environment) static_cast<char**>(alloca((count(environment) + 3) * sizeof(char*)))

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

// `call` is the real exec with the environment that it gets; `path`: where it will look, null if that is not known.
template <class Call>
int end_and_call(const ProcessHooks& hooks, bool may_work, const char* path, Call call) {
  const int ended = may_work ? hooks.before_exec(path) : 0;
  const int result = call();
  const int error = errno;
  hooks.exec_failed(ended);
  errno = error;
  return result;
}

int traced_execve(const char* path, char* const* arguments, char* const* environment) {
  auto* real = real_execve.as<int(const char*, char* const*, char* const*)>();
  const ProcessHooks* hooks = process_hooks();
  if (hooks == nullptr) return real(path, arguments, environment);
  ChildEnvironment child;
  char* const* chosen = child.choose(*hooks, environment, DFT_ENVIRONMENT_ROOM(environment));
  return end_and_call(*hooks, true, path, [&] { return real(path, arguments, chosen); });
}

int traced_execvpe(const char* file, char* const* arguments, char* const* environment) {
  auto* real = real_execvpe.as<int(const char*, char* const*, char* const*)>();
  const ProcessHooks* hooks = process_hooks();
  if (hooks == nullptr) return real(file, arguments, environment);
  ChildEnvironment child;
  char* const* chosen = child.choose(*hooks, environment, DFT_ENVIRONMENT_ROOM(environment));
  char room[kPathRoom];
  const char* found = file != nullptr ? find_in_path(file, room) : nullptr;
  return end_and_call(*hooks, found != nullptr, found, [&] { return real(file, arguments, chosen); });
}

}  // namespace

int wrap_execve(const char* path, char* const* arguments, char* const* environment) {
  return traced_execve(path, arguments, environment);
}

int wrap_execv(const char* path, char* const* arguments) { return traced_execve(path, arguments, environ); }

int wrap_execvp(const char* file, char* const* arguments) { return traced_execvpe(file, arguments, environ); }

int wrap_execvpe(const char* file, char* const* arguments, char* const* environment) {
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

int wrap_execl(const char* path, const char* first, ...) {
  va_list list;
  DFT_COLLECT(first, list, arguments);
  va_end(list);
  return traced_execve(path, arguments, environ);
}

int wrap_execlp(const char* file, const char* first, ...) {
  va_list list;
  DFT_COLLECT(first, list, arguments);
  va_end(list);
  return traced_execvpe(file, arguments, environ);
}

int wrap_execle(const char* path, const char* first, ...) {
  va_list list;
  DFT_COLLECT(first, list, arguments);
  char* const* environment = va_arg(list, char* const*);
  va_end(list);
  return traced_execve(path, arguments, environment);
}

int wrap_fexecve(int fd, char* const* arguments, char* const* environment) {
  auto* real = real_fexecve.as<int(int, char* const*, char* const*)>();
  const ProcessHooks* hooks = process_hooks();
  if (hooks == nullptr) return real(fd, arguments, environment);
  ChildEnvironment child;
  char* const* chosen = child.choose(*hooks, environment, DFT_ENVIRONMENT_ROOM(environment));
  return end_and_call(*hooks, true, nullptr, [&] { return real(fd, arguments, chosen); });
}

int wrap_execveat(int fd, const char* path, char* const* arguments, char* const* environment, int flags) {
  auto* real = real_execveat.as<int(int, const char*, char* const*, char* const*, int)>();
  if (real == nullptr) {  // an older libc
    errno = ENOSYS;
    return -1;
  }
  const ProcessHooks* hooks = process_hooks();
  if (hooks == nullptr) return real(fd, path, arguments, environment, flags);
  ChildEnvironment child;
  char* const* chosen = child.choose(*hooks, environment, DFT_ENVIRONMENT_ROOM(environment));
  return end_and_call(*hooks, true, nullptr, [&] { return real(fd, path, arguments, chosen, flags); });
}

#define DFT_SPAWN(name)                                                                                    \
  int wrap_##name(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,                 \
                  const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) { \
    auto* real = real_##name.as<SpawnCall>();                                                              \
    const ProcessHooks* hooks = process_hooks();                                                           \
    if (hooks == nullptr) return real(pid, path, actions, attributes, arguments, environment);             \
    ChildEnvironment child;                                                                                \
    char* const* chosen = child.choose(*hooks, environment, DFT_ENVIRONMENT_ROOM(environment));            \
    return real(pid, path, actions, attributes, arguments, chosen);                                        \
  }
DFT_SPAWN(posix_spawn)
DFT_SPAWN(posix_spawnp)

}  // namespace dft::intercept
