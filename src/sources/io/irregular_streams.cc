// SPDX-License-Identifier: MIT
// Streams: opened by a path, on a descriptor, on memory or on a pipe; closed; flushed all at once.
#include "sources/io/call.h"
#include "sources/io/stdio.gen.h"

namespace dft::io {

using model::StringId;

namespace {

constexpr auto kNull = [](auto ret) { return ret == nullptr; };
constexpr auto kNegative = [](auto ret) { return ret < 0; };

void opened(FILE* stream, PathTarget target) {
  path_filter.count(target.traced);
  if (stream != nullptr) fd_table.set(descriptor_of(stream), {target.name, FdKind::kFile, target.traced});
}

FILE* open_call(Function& function, const char* path, const char* mode) {
  const auto call = [&] { return real<FILE*(const char*, const char*)>(function)(path, mode); };
  if (!tracking()) return call();
  const auto done = timed(call, kNull);
  const PathTarget target = target_of(AT_FDCWD, path, done.outcome);
  opened(done.ret, target);
  if (target.traced && wanted(function)) {
    emit(function, done, target.name, [=](auto& v, Outcome o, StringId, auto) {
      if (o != Outcome::kFault) v.add_text(seen(o, mode));
    });
  }
  errno = done.error;
  return done.ret;
}

// libc closes the stream's descriptor and opens the path, usually at the same number. A null path changes the mode
// only.
FILE* reopen_call(Function& function, const char* path, const char* mode, FILE* stream) {
  const auto call = [&] { return real<FILE*(const char*, const char*, FILE*)>(function)(path, mode, stream); };
  if (!tracking() || stream == nullptr) return call();
  const FdEntry before = stream_file(stream);
  const int fd = descriptor_of(stream);
  if (fd >= 0) fd_table.forget(fd);
  const auto done = timed(call, kNull);
  if (fd >= 0) fd_table.closed(fd);
  PathTarget target{before.name, before.traced};
  if (path != nullptr) {
    target = target_of(AT_FDCWD, path, done.outcome);
    opened(done.ret, target);
  } else if (done.ret != nullptr) {
    fd_table.set(descriptor_of(done.ret), before);
  }
  if ((before.traced || target.traced) && wanted(function)) {
    emit(function, done, before.traced ? before.name : target.name, [=](auto& v, Outcome o, StringId file, auto) {
      if (o == Outcome::kFault) return;
      v.add(path == nullptr ? file : path_id(AT_FDCWD, seen(o, path)));
      v.add_text(seen(o, mode));
    });
  }
  errno = done.error;
  return done.ret;
}

template <class Call>
int close_call(Function& function, FILE* stream, Call call) {
  if (!tracking() || stream == nullptr) return call();
  const FdEntry entry = stream_file(stream);
  const int fd = descriptor_of(stream);
  if (fd >= 0) fd_table.forget(fd);
  const auto done = timed(call, kNegative);
  if (fd >= 0) fd_table.closed(fd);
  if (entry.traced && wanted(function)) emit(function, done, entry.name, no_args);
  errno = done.error;
  return done.ret;
}

int flush_call(Function& function, FILE* stream) {
  const auto call = [&] { return real<int(FILE*)>(function)(stream); };
  if (stream == nullptr) return on_all(function, call, kNegative, no_args);
  return on_stream(function, stream, call, kNegative, no_args);
}

// A stream on a descriptor whose name is looked up at once, since the event wants it.
template <class Call, class Args>
FILE* unnamed_call(Function& function, Call call, Args args) {
  if (!tracking()) return call();
  const auto done = timed(call, kNull);
  FdEntry entry{0, FdKind::kOther, false};
  if (done.ret != nullptr) {
    if (descriptor_of(done.ret) >= 0) fd_table.forget(descriptor_of(done.ret));
    entry = stream_file(done.ret);
  }
  if (entry.traced && wanted(function)) emit(function, done, entry.name, args);
  errno = done.error;
  return done.ret;
}

}  // namespace

FILE* wrap_fopen(const char* path, const char* mode) { return open_call(fn_fopen, path, mode); }
FILE* wrap_fopen64(const char* path, const char* mode) { return open_call(fn_fopen64, path, mode); }
FILE* wrap_freopen(const char* path, const char* mode, FILE* stream) {
  return reopen_call(fn_freopen, path, mode, stream);
}
FILE* wrap_freopen64(const char* path, const char* mode, FILE* stream) {
  return reopen_call(fn_freopen64, path, mode, stream);
}

FILE* wrap_fdopen(int fd, const char* mode) {
  return on_fd(
      fn_fdopen, fd, [=] { return real<FILE*(int, const char*)>(fn_fdopen)(fd, mode); }, kNull,
      [=](auto& v, Outcome o, StringId, auto) {
        v.add_bits(fd);
        if (o != Outcome::kFault) v.add_text(seen(o, mode));
      });
}

int wrap_fclose(FILE* stream) {
  return close_call(fn_fclose, stream, [=] { return real<int(FILE*)>(fn_fclose)(stream); });
}
int wrap_pclose(FILE* stream) {
  return close_call(fn_pclose, stream, [=] { return real<int(FILE*)>(fn_pclose)(stream); });
}

// Which streams there were only libc knows: every entry goes, and what is still open is looked up again.
int wrap_fcloseall() {
  const bool closes = tracking();
  if (closes) fd_table.reset();
  const int ret = on_all(
      fn_fcloseall, [] { return real<int()>(fn_fcloseall)(); }, kNegative, no_args);
  if (closes) fd_table.closed_range(0, ~0U);
  return ret;
}

int wrap_fflush(FILE* stream) { return flush_call(fn_fflush, stream); }
int wrap_fflush_unlocked(FILE* stream) { return flush_call(fn_fflush_unlocked, stream); }

FILE* wrap_popen(const char* command, const char* type) {
  return unnamed_call(
      fn_popen, [=] { return real<FILE*(const char*, const char*)>(fn_popen)(command, type); },
      [=](auto& v, Outcome o, StringId, auto) {
        if (o == Outcome::kFault) return;
        v.add_text(seen(o, command));
        v.add_text(seen(o, type));
      });
}

FILE* wrap_tmpfile() {
  return unnamed_call(
      fn_tmpfile, [] { return real<FILE*()>(fn_tmpfile)(); }, no_args);
}
FILE* wrap_tmpfile64() {
  return unnamed_call(
      fn_tmpfile64, [] { return real<FILE*()>(fn_tmpfile64)(); }, no_args);
}
FILE* wrap_fmemopen(void* buffer, std::size_t size, const char* mode) {
  return unnamed_call(
      fn_fmemopen, [=] { return real<FILE*(void*, std::size_t, const char*)>(fn_fmemopen)(buffer, size, mode); },
      [=](auto& v, Outcome o, StringId, auto) {
        v.add_bits(size);
        if (o != Outcome::kFault) v.add_text(seen(o, mode));
      });
}
FILE* wrap_open_memstream(char** data, std::size_t* size) {
  return unnamed_call(
      fn_open_memstream, [=] { return real<FILE*(char**, std::size_t*)>(fn_open_memstream)(data, size); }, no_args);
}
FILE* wrap_open_wmemstream(wchar_t** data, std::size_t* size) {
  return unnamed_call(
      fn_open_wmemstream, [=] { return real<FILE*(wchar_t**, std::size_t*)>(fn_open_wmemstream)(data, size); },
      no_args);
}

}  // namespace dft::io
