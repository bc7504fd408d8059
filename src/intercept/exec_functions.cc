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
#include <cstdint>

#include "base/raw_io.h"
#include "base/readable.h"
#include "intercept/process_wrappers.h"

namespace dft::intercept {

namespace {

constexpr std::size_t kPathRoom = 4096;
constexpr std::size_t kVariableRoom = kPathRoom + 32;
constexpr std::size_t kLongestEntry = 128 << 10;  // that the kernel takes

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

// Whether all of it can be read. The process's own is not looked at: libc reads it, too.
bool can_be_read(char* const* environment) {
  constexpr std::uintptr_t kPage = 4096;  // no page is smaller
  if (environment == nullptr || environment == environ) return true;
  if (!base::readable(environment)) return false;
  for (char* const* entry = environment;; ++entry) {
    const char* const last = reinterpret_cast<const char*>(entry + 1) - 1;
    const bool new_page = reinterpret_cast<std::uintptr_t>(last) % kPage < sizeof *entry;
    if (new_page && !base::readable(last)) return false;
    if (*entry == nullptr) return true;
    if (base::readable_text(*entry, kLongestEntry) == nullptr) return false;
  }
}

// Gives `environment` to a child, with an absolute trace prefix where it has a relative one, and with what an init call
// chose in place of the configuration. The memory for that is the caller's frame: a child of vfork has no other.
class ChildEnvironment {
 public:
  ChildEnvironment(const ProcessHooks& hooks, char* const* environment)
      : hooks_(hooks), environment_(environment), readable_(can_be_read(environment)) {
    if (!readable_) return;  // the kernel refuses it
    log_file_ = hooks.child_log_file(environment, nullptr, 0);
    data_dirs_ = hooks.child_data_dirs(environment, nullptr, 0);
    if (log_file_ > kVariableRoom) log_file_ = 0;
    if (data_dirs_ > kVariableRoom) data_dirs_ = 0;
  }
  bool readable() const { return readable_; }
  std::size_t room() const {
    if (log_file_ + data_dirs_ == 0) return 0;
    return list_size() + log_file_ + data_dirs_;
  }
  char* const* made(char* room) const {
    if (room == nullptr) return environment_;
    auto** const list = reinterpret_cast<char**>(room);
    char* const text = room + list_size();
    char* const* chosen = environment_;
    if (log_file_ != 0 && hooks_.child_log_file(environment_, text, log_file_) == log_file_) {
      with_variable(chosen, text, list);
      chosen = list;
    }
    if (data_dirs_ != 0 && hooks_.child_data_dirs(environment_, text + log_file_, data_dirs_) == data_dirs_) {
      with_variable(chosen, text + log_file_, list);
      chosen = list;
    }
    return chosen;
  }

 private:
  std::size_t list_size() const { return (count(environment_) + 3) * sizeof(char*); }

  const ProcessHooks& hooks_;
  char* const* environment_;
  bool readable_;
  std::size_t log_file_ = 0;
  std::size_t data_dirs_ = 0;
};
#define DFT_MADE(child) (child).made((child).room() != 0 ? static_cast<char*>(alloca((child).room())) : nullptr)

bool executable(const char* path) {
  return dft::base::raw::call(SYS_faccessat, AT_FDCWD, reinterpret_cast<long>(path), X_OK) == 0;
}

const char* search_path() {
  const char* path = getenv("PATH");
  return path != nullptr ? path : "/bin:/usr/bin";
}

// Bytes enough for find_in_path().
std::size_t room_in_path(const char* file) {
  if (file == nullptr || strchr(file, '/') != nullptr) return 1;
  const std::size_t most = strlen(search_path()) + strlen(file) + 2;
  return most < kPathRoom ? most : kPathRoom;
}

// Where execvp would find `file`, in `room` of `size` bytes; null when nowhere.
const char* find_in_path(const char* file, char* room, std::size_t size) {
  if (strchr(file, '/') != nullptr) return file;
  const char* path = search_path();
  const std::size_t file_size = strlen(file) + 1;
  while (true) {
    const char* end = strchrnul(path, ':');
    const auto length = static_cast<std::size_t>(end - path);
    if (length + 1 + file_size <= size) {
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
  const ChildEnvironment child(*hooks, environment);
  char* const* chosen = DFT_MADE(child);
  return end_and_call(*hooks, child.readable(), path, [&] { return real(path, arguments, chosen); });
}

int traced_execvpe(const char* file, char* const* arguments, char* const* environment) {
  auto* real = real_execvpe.as<int(const char*, char* const*, char* const*)>();
  const ProcessHooks* hooks = process_hooks();
  if (hooks == nullptr) return real(file, arguments, environment);
  const ChildEnvironment child(*hooks, environment);
  char* const* chosen = DFT_MADE(child);
  const std::size_t room = room_in_path(file);
  const char* found = file != nullptr ? find_in_path(file, static_cast<char*>(alloca(room)), room) : nullptr;
  return end_and_call(*hooks, found != nullptr && child.readable(), found,
                      [&] { return real(file, arguments, chosen); });
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
  const ChildEnvironment child(*hooks, environment);
  char* const* chosen = DFT_MADE(child);
  return end_and_call(*hooks, child.readable(), nullptr, [&] { return real(fd, arguments, chosen); });
}

int wrap_execveat(int fd, const char* path, char* const* arguments, char* const* environment, int flags) {
  auto* real = real_execveat.as<int(int, const char*, char* const*, char* const*, int)>();
  if (real == nullptr) {  // an older libc
    errno = ENOSYS;
    return -1;
  }
  const ProcessHooks* hooks = process_hooks();
  if (hooks == nullptr) return real(fd, path, arguments, environment, flags);
  const ChildEnvironment child(*hooks, environment);
  char* const* chosen = DFT_MADE(child);
  return end_and_call(*hooks, child.readable(), nullptr, [&] { return real(fd, path, arguments, chosen, flags); });
}

#define DFT_SPAWN(name)                                                                                    \
  int wrap_##name(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,                 \
                  const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) { \
    auto* real = real_##name.as<SpawnCall>();                                                              \
    const ProcessHooks* hooks = process_hooks();                                                           \
    if (hooks == nullptr) return real(pid, path, actions, attributes, arguments, environment);             \
    const ChildEnvironment child(*hooks, environment);                                                     \
    char* const* chosen = DFT_MADE(child);                                                                 \
    return real(pid, path, actions, attributes, arguments, chosen);                                        \
  }
DFT_SPAWN(posix_spawn)
DFT_SPAWN(posix_spawnp)

}  // namespace dft::intercept
