// SPDX-License-Identifier: MIT
// Calls that open a file by a path or a name. The descriptor's entry is made as soon as the number is known, whether
// the file is traced or not: a number that is known as untraced costs nothing later.
#include "sources/io/call.h"
#include "sources/io/posix.gen.h"

namespace dft::io {

using model::StringId;

namespace {

using OpenCall = int(const char*, int, ...);
using OpenatCall = int(int, const char*, int, ...);

constexpr auto kNegative = [](auto ret) { return ret < 0; };

bool has_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

// Makes the entry of a descriptor that was opened, and gives its file. An untraced directory stands as an untraced
// file: kDirectory without a name would say that nothing below it is traced.
PathTarget opened(int fd, int flags, PathTarget target) {
  path_filter.count(target.traced);
  if (fd < 0) return target;
  if ((flags & O_TMPFILE) == O_TMPFILE) {  // the path is the directory's, the file has a name of the kernel's
    fd_table.forget(fd);
    const FdEntry entry = fd_table.find(fd);
    return {entry.name, entry.traced};
  }
  const bool directory = target.traced && (flags & O_DIRECTORY) != 0;
  fd_table.set(fd, {target.name, directory ? FdKind::kDirectory : FdKind::kFile, target.traced});
  return target;
}

// The whole of a call that opens `path`; `args` as in call.h.
template <class Call, class Args>
int open_call(Function& function, int dir_fd, const char* path, int flags, Call call, Args args) {
  if (!tracking()) return call();
  const auto done = timed(call, kNegative);
  const PathTarget target = opened(done.ret, flags, target_of(dir_fd, path, done.outcome));
  if (target.traced && wanted(function)) emit(function, done, target.name, args);
  errno = done.error;
  return done.ret;
}

// Functions with and without a mode have different args; the second object is the event of a call without.
constexpr Arg kFlagsOnly[] = {{model::ArgType::kInt64, When::kAlways, "flags"}};
constexpr Arg kAtFlagsOnly[] = {{model::ArgType::kInt64, When::kAlways, "dirfd"},
                                {model::ArgType::kHash, When::kAlways, "pathname_hash"},
                                {model::ArgType::kInt64, When::kAlways, "flags"}};

// One of the variadic forms: the mode is read only when it is there, and handed on as it came.
template <class Signature>
int variadic_open(Function& function, Function& without_mode, int dir_fd, const char* path, int flags, mode_t mode) {
  const auto call = [&] {
    if constexpr (std::is_same_v<Signature, OpenatCall>) {
      return real<OpenatCall>(function)(dir_fd, path, flags, mode);
    } else {
      return real<OpenCall>(function)(path, flags, mode);
    }
  };
  constexpr bool kAt = std::is_same_v<Signature, OpenatCall>;
  const bool with_mode = has_mode(flags);
  return open_call(with_mode ? function : without_mode, dir_fd, path, flags, call,
                   [=](auto& v, Outcome, StringId file, auto) {
                     if (kAt) {
                       v.add_bits(dir_fd);
                       v.add(file);
                     }
                     v.add_bits(flags);
                     if (with_mode) v.add_bits(mode);
                   });
}

Function open_plain{"open", "open", "", Category::kPosix, kHasRet, kFlagsOnly, 1};
Function open64_plain{"open64", "open", "open64", Category::kPosix, kHasRet, kFlagsOnly, 1};
Function u_open_plain{"__open", "open", "__open", Category::kPosix, kHasRet, kFlagsOnly, 1};
Function u_open64_plain{"__open64", "open", "__open64", Category::kPosix, kHasRet, kFlagsOnly, 1};
Function openat_plain{"openat", "openat", "", Category::kPosix, kHasRet, kAtFlagsOnly, 3};
Function openat64_plain{"openat64", "openat", "openat64", Category::kPosix, kHasRet, kAtFlagsOnly, 3};

mode_t mode_of(int flags, va_list list) { return has_mode(flags) ? va_arg(list, mode_t) : 0; }

int fortified_open(Function& function, const char* path, int flags) {
  return open_call(
      function, AT_FDCWD, path, flags, [&] { return real<int(const char*, int)>(function)(path, flags); },
      [=](auto& v, Outcome, StringId, auto) { v.add_bits(flags); });
}

int fortified_openat(Function& function, int dir_fd, const char* path, int flags) {
  return open_call(
      function, dir_fd, path, flags, [&] { return real<int(int, const char*, int)>(function)(dir_fd, path, flags); },
      [=](auto& v, Outcome, StringId file, auto) {
        v.add_bits(dir_fd);
        v.add(file);
        v.add_bits(flags);
      });
}

int create(Function& function, const char* path, mode_t mode) {
  return open_call(
      function, AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC,
      [&] { return real<int(const char*, mode_t)>(function)(path, mode); },
      [=](auto& v, Outcome, StringId, auto) { v.add_bits(mode); });
}

// The name of a file that only its descriptor tells: looked up once, after the call.
template <class Call, class Args>
int open_unnamed(Function& function, Call call, Args args) {
  if (!tracking()) return call();
  const auto done = timed(call, kNegative);
  FdEntry entry{0, FdKind::kOther, false};
  if (done.ret >= 0) {
    fd_table.forget(done.ret);
    entry = fd_table.find(done.ret);
  }
  if (entry.traced && wanted(function)) emit(function, done, entry.name, args);
  errno = done.error;
  return done.ret;
}

// POSIX shared memory lies in /dev/shm.
const char* shared_memory_path(const char* name, char* memory, std::size_t capacity) {
  if (name == nullptr) return nullptr;
  while (*name == '/') ++name;
  constexpr char kFolder[] = "/dev/shm/";
  const std::size_t size = strnlen(name, NAME_MAX + 1);
  if (size == 0 || sizeof kFolder + size > capacity) return nullptr;
  std::memcpy(memory, kFolder, sizeof kFolder - 1);
  std::memcpy(memory + sizeof kFolder - 1, name, size);
  memory[sizeof kFolder - 1 + size] = '\0';
  return memory;
}
constexpr std::size_t kSharedMemoryRoom = NAME_MAX + 16;

}  // namespace

#define DFT_OPEN(name, plain)                                                      \
  int wrap_##name(const char* path, int flags, ...) {                              \
    va_list list;                                                                  \
    va_start(list, flags);                                                         \
    const mode_t mode = mode_of(flags, list);                                      \
    va_end(list);                                                                  \
    return variadic_open<OpenCall>(fn_##name, plain, AT_FDCWD, path, flags, mode); \
  }
DFT_OPEN(open, open_plain)
DFT_OPEN(open64, open64_plain)
DFT_OPEN(__open, u_open_plain)
DFT_OPEN(__open64, u_open64_plain)

#define DFT_OPENAT(name, plain)                                                   \
  int wrap_##name(int dirfd, const char* path, int flags, ...) {                  \
    va_list list;                                                                 \
    va_start(list, flags);                                                        \
    const mode_t mode = mode_of(flags, list);                                     \
    va_end(list);                                                                 \
    return variadic_open<OpenatCall>(fn_##name, plain, dirfd, path, flags, mode); \
  }
DFT_OPENAT(openat, openat_plain)
DFT_OPENAT(openat64, openat64_plain)

int wrap___open_2(const char* path, int flags) { return fortified_open(fn___open_2, path, flags); }
int wrap___open64_2(const char* path, int flags) { return fortified_open(fn___open64_2, path, flags); }
int wrap___openat_2(int dirfd, const char* path, int flags) {
  return fortified_openat(fn___openat_2, dirfd, path, flags);
}
int wrap___openat64_2(int dirfd, const char* path, int flags) {
  return fortified_openat(fn___openat64_2, dirfd, path, flags);
}
int wrap_creat(const char* path, mode_t mode) { return create(fn_creat, path, mode); }
int wrap_creat64(const char* path, mode_t mode) { return create(fn_creat64, path, mode); }

// The templates are filled in by the call, and read only afterwards.
#define DFT_MKSTEMP(name)                                                                               \
  int wrap_##name(char* path) {                                                                         \
    return open_call(                                                                                   \
        fn_##name, AT_FDCWD, path, O_RDWR, [=] { return real<int(char*)>(fn_##name)(path); }, no_args); \
  }
DFT_MKSTEMP(mkstemp)
DFT_MKSTEMP(mkstemp64)

#define DFT_MKSTEMP_WITH(name, number)                                                                     \
  int wrap_##name(char* path, int number) {                                                                \
    return open_call(                                                                                      \
        fn_##name, AT_FDCWD, path, O_RDWR, [=] { return real<int(char*, int)>(fn_##name)(path, number); }, \
        [=](auto& v, Outcome, StringId, auto) { v.add_bits(number); });                                    \
  }
DFT_MKSTEMP_WITH(mkostemp, flags)
DFT_MKSTEMP_WITH(mkostemp64, flags)
DFT_MKSTEMP_WITH(mkstemps, suffix_len)
DFT_MKSTEMP_WITH(mkstemps64, suffix_len)

#define DFT_MKOSTEMPS(name)                                                             \
  int wrap_##name(char* path, int suffix_len, int flags) {                              \
    return open_call(                                                                   \
        fn_##name, AT_FDCWD, path, O_RDWR,                                              \
        [=] { return real<int(char*, int, int)>(fn_##name)(path, suffix_len, flags); }, \
        [=](auto& v, Outcome, StringId, auto) {                                         \
          v.add_bits(suffix_len);                                                       \
          v.add_bits(flags);                                                            \
        });                                                                             \
  }
DFT_MKOSTEMPS(mkostemps)
DFT_MKOSTEMPS(mkostemps64)

char* wrap_mkdtemp(char* path) {
  return on_path(
      fn_mkdtemp, AT_FDCWD, path, [=] { return real<char*(char*)>(fn_mkdtemp)(path); },
      [](auto ret) { return ret == nullptr; }, no_args);
}

int wrap_open_by_handle_at(int dirfd, struct file_handle* handle, int flags) {
  return open_unnamed(
      fn_open_by_handle_at,
      [=] { return real<int(int, struct file_handle*, int)>(fn_open_by_handle_at)(dirfd, handle, flags); },
      [=](auto& v, Outcome, StringId, auto) { v.add_bits(flags); });
}

int wrap_memfd_create(const char* name, unsigned flags) {
  return open_unnamed(
      fn_memfd_create, [=] { return real<int(const char*, unsigned)>(fn_memfd_create)(name, flags); },
      [=](auto& v, Outcome o, StringId, auto) {
        if (o != Outcome::kFault) v.add_text(seen(o, name));
        v.add_bits(flags);
      });
}

int wrap_shm_open(const char* name, int flags, mode_t mode) {
  char memory[kSharedMemoryRoom];
  const char* path = tracking() ? shared_memory_path(name, memory, sizeof memory) : nullptr;
  return open_call(
      fn_shm_open, AT_FDCWD, path, flags,
      [=] { return real<int(const char*, int, mode_t)>(fn_shm_open)(name, flags, mode); },
      [=](auto& v, Outcome, StringId, auto) {
        v.add_bits(flags);
        v.add_bits(mode);
      });
}

int wrap_shm_unlink(const char* name) {
  char memory[kSharedMemoryRoom];
  const char* path = tracking() ? shared_memory_path(name, memory, sizeof memory) : nullptr;
  return on_path(
      fn_shm_unlink, AT_FDCWD, path, [=] { return real<int(const char*)>(fn_shm_unlink)(name); }, kNegative, no_args);
}

}  // namespace dft::io
