// SPDX-License-Identifier: MIT
// Purpose: what every wrapper does, once. A generated wrapper names its gate (on_fd, on_path, on_stream ...) and hands
//          in three small functions: the real call, whether its result is a failure, and the args of the event.
//
//          gate closed: the real call and nothing else.  gate open: time, real call, errno kept, time, event, errno.
//
// Threads: any, signal handlers included; before constructors, after the end of recording, in children of vfork.
// Invariants:
//   1. errno is as the real call left it.
//   2. Pointer arguments are read only after the real call: when it succeeded, or, texts, when it failed otherwise than
//      by EFAULT and the kernel says that they can be read (seen()). A call that fails untraced never crashes traced.
//   3. While the real call runs nothing of ours is held: callbacks of the application (nftw, scandir) are traced.
#pragma once

#include <cerrno>
#include <string_view>
#include <type_traits>

#include "base/clock.h"
#include "record/recorder.h"
#include "sources/io/io_state.h"
#include "sources/io/libc_types.h"
#include "sources/io/values.h"

namespace dft::io {

struct Nothing {};  // the result of a void function

inline constexpr auto never_fails = [](auto) { return false; };
inline constexpr auto no_args = [](auto&, Outcome, model::StringId, auto) {};

inline bool recorder_is_ready() { return record::control->active.load(std::memory_order_relaxed) != 0; }

// One call that was made, and how it ended. The first event of a process starts its recording, and with it the clock:
// calls before that (`early`) are timed with CLOCK_MONOTONIC, in nanoseconds instead of ticks.
struct Ended {
  base::Ticks begin;
  base::Ticks end;
  int error;  // errno as the real call left it
  Outcome outcome;
  bool early;
};
template <class Ret>
struct Done : Ended {
  Ret ret;
};

template <class Call, class Fails>
inline auto timed(Call call, Fails fails) {
  Done<decltype(call())> done;
  done.early = !recorder_is_ready();
  done.begin = __builtin_expect(done.early, 0) ? base::monotonic_ns() : base::clock_now();
  done.ret = call();
  done.end = __builtin_expect(done.early, 0) ? base::monotonic_ns() : base::clock_now();
  done.error = errno;
  done.outcome = !fails(done.ret) ? Outcome::kOk : done.error == EFAULT ? Outcome::kFault : Outcome::kFailed;
  return done;
}

// Writes the event, after adding ret, errno and symbol to `values`.
void emit_call(Function& function, const Ended& ended, bool has_file, std::uint64_t ret, Values& values);

template <class Ret, class Args>
inline void emit(Function& function, const Done<Ret>& done, model::StringId file, Args args) {
  Values values;
  if (file != 0) values.add(file);
  args(values, done.outcome, file, done.ret);
  std::uint64_t ret = 0;
  if constexpr (std::is_integral_v<Ret>) ret = bits_of(done.ret);
  emit_call(function, done, file != 0, ret, values);
}

template <class Call, class Fails, class Args>
inline auto traced(Function& function, model::StringId file, Call call, Fails fails, Args args) {
  const auto done = timed(call, fails);
  emit(function, done, file, args);
  errno = done.error;
  return done.ret;
}

template <class Call, class Fails, class Args>
inline auto on_all(Function& function, Call call, Fails fails, Args args) {
  if (!wanted(function)) return call();
  return traced(function, 0, call, fails, args);
}

template <class Call, class Fails, class Args>
inline auto on_fd(Function& function, int fd, Call call, Fails fails, Args args) {
  if (!wanted(function)) return call();
  const FdEntry entry = fd_table.find(fd);
  if (!entry.traced) return call();
  return traced(function, entry.name, call, fails, args);
}

// Between two descriptors: traced when one is; the event has the first traced one's file.
template <class Call, class Fails, class Args>
inline auto on_either_fd(Function& function, int fd, int other, Call call, Fails fails, Args args) {
  if (!wanted(function)) return call();
  FdEntry entry = fd_table.find(fd);
  if (!entry.traced) entry = fd_table.find(other);
  if (!entry.traced) return call();
  return traced(function, entry.name, call, fails, args);
}

// The file behind a stream: its descriptor's, or memory. In streams that are not on a descriptor libc leaves _fileno
// undefined; which those are says a flag that is part of the ABI, but in no header (_IO_IS_FILEBUF).
inline constexpr int kOnDescriptor = 0x2000;
inline int descriptor_of(const FILE* stream) { return (stream->_flags & kOnDescriptor) != 0 ? stream->_fileno : -1; }
FdEntry memory_stream();
inline FdEntry stream_file(FILE* stream) {
  if (stream == nullptr) return {0, FdKind::kOther, false};
  const int fd = descriptor_of(stream);
  return __builtin_expect(fd >= 0, 1) ? fd_table.find(fd) : memory_stream();
}
inline bool stream_failed(FILE* stream) { return (stream->_flags & _IO_ERR_SEEN) != 0; }
inline bool stream_ended(FILE* stream) { return (stream->_flags & _IO_EOF_SEEN) != 0; }

template <class Call, class Fails, class Args>
inline auto on_stream(Function& function, FILE* stream, Call call, Fails fails, Args args) {
  if (!wanted(function)) return call();
  const FdEntry entry = stream_file(stream);
  if (!entry.traced) return call();
  return traced(function, entry.name, call, fails, args);
}

int descriptor_of(DIR* dir);  // -1 for null
template <class Call, class Fails, class Args>
inline auto on_dir(Function& function, DIR* dir, Call call, Fails fails, Args args) {
  if (!wanted(function)) return call();
  const FdEntry entry = fd_table.find(descriptor_of(dir));
  if (!entry.traced) return call();
  return traced(function, entry.name, call, fails, args);
}

template <class Call, class Fails, class Args>
inline auto on_mapping(Function& function, const void* address, Call call, Fails fails, Args args) {
  if (!wanted(function)) return call();
  const model::StringId file = mapping_table.find(address);
  if (file == 0) return call();
  return traced(function, file, call, fails, args);
}

// The path is looked at after the call (invariant 2), so the times are taken for paths that are not traced, too.
PathTarget target_of(int dir_fd, const char* path, Outcome outcome);

template <class Call, class Fails, class Args>
inline auto on_path(Function& function, int dir_fd, const char* path, Call call, Fails fails, Args args) {
  if (!wanted(function)) return call();
  const auto done = timed(call, fails);
  const PathTarget target = target_of(dir_fd, path, done.outcome);
  if (target.traced) emit(function, done, target.name, args);
  errno = done.error;
  return done.ret;
}

inline bool is_empty(Outcome outcome, const char* path) {
  const char* text = seen(outcome, path);
  return text != nullptr && *text == '\0';
}

// With AT_EMPTY_PATH and no path, the descriptor itself.
template <class Call, class Fails, class Args>
inline auto on_path_or_fd(Function& function, int dir_fd, const char* path, int flags, Call call, Fails fails,
                          Args args) {
  if (!wanted(function)) return call();
  const auto done = timed(call, fails);
  PathTarget target{0, false};
  const bool itself = (flags & AT_EMPTY_PATH) != 0 && done.outcome != Outcome::kFault &&
                      (path == nullptr || is_empty(done.outcome, path));
  if (itself && dir_fd != AT_FDCWD) {
    const FdEntry entry = fd_table.find(dir_fd);
    target = {entry.name, entry.traced};
  } else {
    target = target_of(dir_fd, itself ? "." : path, done.outcome);
  }
  if (target.traced) emit(function, done, target.name, args);
  errno = done.error;
  return done.ret;
}

// From one path to another: traced when one is; fhash is the first one's.
template <class Call, class Fails, class Args>
inline auto on_either_path(Function& function, int dir_fd, const char* path, int other_dir_fd, const char* other_path,
                           Call call, Fails fails, Args args) {
  if (!wanted(function)) return call();
  const auto done = timed(call, fails);
  PathTarget target = target_of(dir_fd, path, done.outcome);
  if (!target.traced && target_of(other_dir_fd, other_path, done.outcome).traced)
    target = {path_id(dir_fd, seen(done.outcome, path)), true};
  if (target.traced) emit(function, done, target.name, args);
  errno = done.error;
  return done.ret;
}

}  // namespace dft::io
