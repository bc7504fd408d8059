// SPDX-License-Identifier: MIT
// Directory streams, whose descriptor is libc's, and changes of the working directory.
#include "sources/io/call.h"
#include "sources/io/posix.gen.h"

namespace dft::io {

using model::StringId;

namespace {

constexpr auto kNegative = [](auto ret) { return ret < 0; };
constexpr auto kNull = [](auto ret) { return ret == nullptr; };

// Where the process was, for the name of a directory that it changes to: relative names mean the one before the call,
// but the path may be read only after it (call.h, invariant 2).
struct DirectoryBefore {
  LongName room;
  std::size_t size = 0;
  DirectoryBefore() {
    if (room.memory() != nullptr) size = working_directory.read(room.memory(), kLongestName);
  }

  PathTarget target(const char* path) {
    if (path[0] == '/' || path[0] == '\0' || size == 0) return path_resolver.target(AT_FDCWD, path);
    NameWriter name(room.memory(), kLongestName, size == 1 ? 0 : size);
    name.add(path_text(path).bytes);
    if (!path_filter.traces(name.view())) return {0, false};
    return {record::string_id(model::StringKind::kFile, name.view()), true};
  }
};

template <class Call>
[[gnu::noinline]] int change_by_path(Function& function, const char* path, Call call) {
  DirectoryBefore before;
  const auto done = timed(call, kNegative);
  if (done.ret == 0) working_directory.changed();
  if (const char* text = seen(done.outcome, path)) {
    const PathTarget target = before.target(text);
    if (target.traced && wanted(function)) emit(function, done, target.name, no_args);
  }
  errno = done.error;
  return done.ret;
}

template <class Visit, class Args>
int walk(Function& function, const char* path, Visit visit, int descriptors, int flags, Args args) {
  if (!tracking()) return real<int(const char*, Visit, int, int)>(function)(path, visit, descriptors, flags);
  const auto call = [&] {
    const int ret = real<int(const char*, Visit, int, int)>(function)(path, visit, descriptors, flags);
    if ((flags & FTW_CHDIR) != 0) working_directory.changed();
    return ret;
  };
  return on_path(function, AT_FDCWD, path, call, kNegative, args);
}

}  // namespace

DIR* wrap_opendir(const char* path) {
  const auto call = [=] { return real<DIR*(const char*)>(fn_opendir)(path); };
  if (!tracking()) return call();
  const auto done = timed(call, kNull);
  const PathTarget target = target_of(AT_FDCWD, path, done.outcome);
  path_filter.count(target.traced);
  if (done.ret != nullptr) {
    const FdKind kind = target.traced ? FdKind::kDirectory : FdKind::kFile;
    fd_table.set(descriptor_of(done.ret), {target.name, kind, target.traced});
  }
  if (target.traced && wanted(fn_opendir)) emit(fn_opendir, done, target.name, no_args);
  errno = done.error;
  return done.ret;
}

DIR* wrap_fdopendir(int fd) {
  return on_fd(
      fn_fdopendir, fd, [=] { return real<DIR*(int)>(fn_fdopendir)(fd); }, kNull, no_args);
}

int wrap_closedir(DIR* dir) {
  const auto call = [=] { return real<int(DIR*)>(fn_closedir)(dir); };
  if (!tracking() || dir == nullptr) return call();
  const int fd = descriptor_of(dir);
  const FdEntry entry = fd_table.find(fd);
  fd_table.forget(fd);
  const auto done = timed(call, kNegative);
  fd_table.closed(fd);
  if (entry.traced && wanted(fn_closedir)) emit(fn_closedir, done, entry.name, no_args);
  errno = done.error;
  return done.ret;
}

int wrap_chdir(const char* path) {
  const auto call = [=] { return real<int(const char*)>(fn_chdir)(path); };
  return tracking() ? change_by_path(fn_chdir, path, call) : call();
}
int wrap_chroot(const char* path) {
  const auto call = [=] { return real<int(const char*)>(fn_chroot)(path); };
  return tracking() ? change_by_path(fn_chroot, path, call) : call();
}
int wrap_fchdir(int fd) {
  const auto call = [=] {
    const int ret = real<int(int)>(fn_fchdir)(fd);
    if (ret == 0) working_directory.changed();
    return ret;
  };
  return on_fd(fn_fchdir, fd, call, kNegative, no_args);
}

int wrap_nftw(const char* path, int (*visit)(const char*, const struct stat*, int, struct FTW*), int descriptors,
              int flags) {
  return walk(fn_nftw, path, visit, descriptors, flags, [=](auto& v, Outcome, StringId, auto) {
    v.add_bits(descriptors);
    v.add_bits(flags);
  });
}
int wrap_nftw64(const char* path, int (*visit)(const char*, const struct stat64*, int, struct FTW*), int descriptors,
                int flags) {
  return walk(fn_nftw64, path, visit, descriptors, flags, [=](auto& v, Outcome, StringId, auto) {
    v.add_bits(descriptors);
    v.add_bits(flags);
  });
}

}  // namespace dft::io
