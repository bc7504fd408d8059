// SPDX-License-Identifier: MIT
// Calls that end or copy a descriptor, or make one that is no file. An entry is dropped before the real close: as soon
// as the number is free, another thread's open may get it.
#include <sys/epoll.h>

#include "sources/io/call.h"
#include "sources/io/posix.gen.h"

namespace dft::io {

using model::StringId;

namespace {

constexpr auto kNegative = [](auto ret) { return ret < 0; };

int close_call(Function& function, int fd) {
  const auto call = [&] { return real<int(int)>(function)(fd); };
  if (!tracking()) return call();
  const FdEntry entry = fd_table.find(fd);
  fd_table.forget(fd);
  if (!entry.traced || !wanted(function)) {  // not timed: most closes of a program that traces one directory
    const int ret = call();
    fd_table.closed(fd);
    return ret;
  }
  const auto done = timed(call, kNegative);
  fd_table.closed(fd);
  emit(function, done, entry.name, no_args);
  errno = done.error;
  return done.ret;
}

// `call` duplicates fd; the number wanted for the duplicate, or -1, is about to lose its file.
template <class Call, class Args>
int duplicate(Function& function, int fd, int wanted_fd, Call call, Args args) {
  if (!tracking()) return call();
  const FdEntry entry = fd_table.find(fd);
  if (wanted_fd >= 0 && wanted_fd != fd) fd_table.forget(wanted_fd);
  const auto done = timed(call, kNegative);
  if (done.ret >= 0) {
    fd_table.copy(fd, done.ret);
  } else if (wanted_fd >= 0) {
    fd_table.closed(wanted_fd);
  }
  if (entry.traced && wanted(function)) emit(function, done, entry.name, args);
  errno = done.error;
  return done.ret;
}

int dup2_call(Function& function, int fd, int newfd) {
  return duplicate(
      function, fd, newfd, [&] { return real<int(int, int)>(function)(fd, newfd); },
      [=](auto& v, Outcome, StringId, auto) { v.add_bits(newfd); });
}

// Every command takes at most one word; it is handed on whatever the command is.
int fcntl_call(Function& function, int fd, int cmd, void* argument) {
  const auto call = [&] { return real<int(int, int, ...)>(function)(fd, cmd, argument); };
  const auto args = [=](auto& v, Outcome, StringId, auto) { v.add_bits(cmd); };
  if (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC) return duplicate(function, fd, -1, call, args);
  return on_fd(function, fd, call, kNegative, args);
}

// New descriptors without a name of ours: the kind is looked up when one is first used.
template <class Call>
auto made(Call call) {
  const auto ret = call();
  if (ret >= 0 && tracking()) fd_table.forget(ret);
  return ret;
}
template <class Call>
auto made_two(const int* fds, Call call) {
  const auto ret = call();
  if (ret == 0 && tracking()) {
    fd_table.forget(fds[0]);
    fd_table.forget(fds[1]);
  }
  return ret;
}

// pipe is an event of the original's list, without a file.
template <class Call, class More>
int pipe_call(Function& function, int* fds, Call call, More more) {
  return made_two(fds, [&] {
    return on_all(function, call, kNegative, [=](auto& v, Outcome o, StringId, auto) {
      if (o == Outcome::kOk) {
        v.add_bits(fds[0]);
        v.add_bits(fds[1]);
      }
      more(v);
    });
  });
}
constexpr auto kNoMore = [](auto&) {};

// Descriptors may have come with a message. They are found by the first call that uses them; only numbers that we still
// take for something else must be given up.
void received(const struct msghdr& message) {
  if (message.msg_control == nullptr || message.msg_controllen < sizeof(struct cmsghdr)) return;
  auto* header = CMSG_FIRSTHDR(&message);
  for (; header != nullptr; header = CMSG_NXTHDR(const_cast<struct msghdr*>(&message), header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    if (header->cmsg_len < CMSG_LEN(0)) return;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
      fd_table.forget(fd);
    }
  }
}

}  // namespace

int wrap_close(int fd) { return close_call(fn_close, fd); }
int wrap___close(int fd) { return close_call(fn___close, fd); }

int wrap_close_range(unsigned first, unsigned last, int flags) {
  constexpr int kOnlyMarks = 4;  // CLOSE_RANGE_CLOEXEC
  const bool closes = tracking() && (flags & kOnlyMarks) == 0;
  if (closes) fd_table.forget_range(first, last);
  const int result = on_all(
      fn_close_range, [=] { return real<int(unsigned, unsigned, int)>(fn_close_range)(first, last, flags); }, kNegative,
      [=](auto& v, Outcome, StringId, auto) {
        v.add_bits(first);
        v.add_bits(last);
        v.add_bits(flags);
      });
  if (closes) fd_table.closed_range(first, last);
  return result;
}

void wrap_closefrom(int first) {
  const auto from = static_cast<unsigned>(first < 0 ? 0 : first);
  const bool closes = tracking();
  if (closes) fd_table.forget_range(from, ~0U);
  on_all(
      fn_closefrom,
      [=] {
        real<void(int)>(fn_closefrom)(first);
        return Nothing{};
      },
      never_fails, [=](auto& v, Outcome, StringId, auto) { v.add_bits(first); });
  if (closes) fd_table.closed_range(from, ~0U);
}

int wrap_dup(int fd) {
  return duplicate(
      fn_dup, fd, -1, [=] { return real<int(int)>(fn_dup)(fd); }, no_args);
}
int wrap_dup2(int fd, int newfd) { return dup2_call(fn_dup2, fd, newfd); }
int wrap___dup2(int fd, int newfd) { return dup2_call(fn___dup2, fd, newfd); }
int wrap_dup3(int fd, int newfd, int flags) {
  return duplicate(
      fn_dup3, fd, newfd, [=] { return real<int(int, int, int)>(fn_dup3)(fd, newfd, flags); },
      [=](auto& v, Outcome, StringId, auto) {
        v.add_bits(newfd);
        v.add_bits(flags);
      });
}

#define DFT_FCNTL(name)                              \
  int wrap_##name(int fd, int cmd, ...) {            \
    va_list list;                                    \
    va_start(list, cmd);                             \
    void* argument = va_arg(list, void*);            \
    va_end(list);                                    \
    return fcntl_call(fn_##name, fd, cmd, argument); \
  }
DFT_FCNTL(fcntl)
DFT_FCNTL(fcntl64)
DFT_FCNTL(__fcntl)

int wrap_pipe(int* fds) {
  return pipe_call(
      fn_pipe, fds, [=] { return real<int(int*)>(fn_pipe)(fds); }, kNoMore);
}
int wrap___pipe(int* fds) {
  return pipe_call(
      fn___pipe, fds, [=] { return real<int(int*)>(fn___pipe)(fds); }, kNoMore);
}
int wrap_pipe2(int* fds, int flags) {
  return pipe_call(
      fn_pipe2, fds, [=] { return real<int(int*, int)>(fn_pipe2)(fds, flags); }, [=](auto& v) { v.add_bits(flags); });
}

int wrap_socket(int domain, int type, int protocol) {
  return made([=] { return real<int(int, int, int)>(fn_socket)(domain, type, protocol); });
}
int wrap_socketpair(int domain, int type, int protocol, int* fds) {
  return made_two(fds, [=] { return real<int(int, int, int, int*)>(fn_socketpair)(domain, type, protocol, fds); });
}
int wrap_accept(int fd, struct sockaddr* address, socklen_t* size) {
  return made([=] { return real<int(int, struct sockaddr*, socklen_t*)>(fn_accept)(fd, address, size); });
}
int wrap_accept4(int fd, struct sockaddr* address, socklen_t* size, int flags) {
  return made([=] { return real<int(int, struct sockaddr*, socklen_t*, int)>(fn_accept4)(fd, address, size, flags); });
}
int wrap_epoll_create(int size) {
  return made([=] { return real<int(int)>(fn_epoll_create)(size); });
}
int wrap_epoll_create1(int flags) {
  return made([=] { return real<int(int)>(fn_epoll_create1)(flags); });
}
int wrap_eventfd(unsigned value, int flags) {
  return made([=] { return real<int(unsigned, int)>(fn_eventfd)(value, flags); });
}
int wrap_signalfd(int fd, const sigset_t* mask, int flags) {
  return made([=] { return real<int(int, const sigset_t*, int)>(fn_signalfd)(fd, mask, flags); });
}
int wrap_timerfd_create(clockid_t clock, int flags) {
  return made([=] { return real<int(clockid_t, int)>(fn_timerfd_create)(clock, flags); });
}
int wrap_inotify_init() {
  return made([] { return real<int()>(fn_inotify_init)(); });
}
int wrap_inotify_init1(int flags) {
  return made([=] { return real<int(int)>(fn_inotify_init1)(flags); });
}
int wrap_fanotify_init(unsigned flags, unsigned event_flags) {
  return made([=] { return real<int(unsigned, unsigned)>(fn_fanotify_init)(flags, event_flags); });
}
int wrap_pidfd_open(pid_t pid, unsigned flags) {
  return made([=] { return real<int(pid_t, unsigned)>(fn_pidfd_open)(pid, flags); });
}
int wrap_pidfd_getfd(int pidfd, int fd, unsigned flags) {
  return made([=] { return real<int(int, int, unsigned)>(fn_pidfd_getfd)(pidfd, fd, flags); });
}

int wrap_mq_open(const char* name, int flags, ...) {
  if ((flags & O_CREAT) == 0) {
    return made([=] { return real<int(const char*, int, ...)>(fn_mq_open)(name, flags); });
  }
  va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t);
  void* attributes = va_arg(list, void*);
  va_end(list);
  return made([=] { return real<int(const char*, int, ...)>(fn_mq_open)(name, flags, mode, attributes); });
}
int wrap___mq_open_2(const char* name, int flags) {
  return made([=] { return real<int(const char*, int)>(fn___mq_open_2)(name, flags); });
}
int wrap_posix_openpt(int flags) {
  return made([=] { return real<int(int)>(fn_posix_openpt)(flags); });
}
int wrap_getpt() {
  return made([] { return real<int()>(fn_getpt)(); });
}
int wrap_openpty(int* master, int* slave, char* name, const struct termios* terminal, const struct winsize* window) {
  using Call = int(int*, int*, char*, const struct termios*, const struct winsize*);
  const int ret = real<Call>(fn_openpty)(master, slave, name, terminal, window);
  if (ret == 0 && tracking()) {
    fd_table.forget(*master);
    fd_table.forget(*slave);
  }
  return ret;
}

ssize_t wrap_recvmsg(int fd, struct msghdr* message, int flags) {
  const ssize_t ret = real<ssize_t(int, struct msghdr*, int)>(fn_recvmsg)(fd, message, flags);
  if (ret >= 0 && tracking()) received(*message);
  return ret;
}
int wrap_recvmmsg(int fd, struct mmsghdr* messages, unsigned count, int flags, struct timespec* timeout) {
  using Call = int(int, struct mmsghdr*, unsigned, int, struct timespec*);
  const int ret = real<Call>(fn_recvmmsg)(fd, messages, count, flags, timeout);
  if (ret > 0 && tracking()) {
    for (int i = 0; i < ret; ++i) received(messages[i].msg_hdr);
  }
  return ret;
}

}  // namespace dft::io
