// SPDX-License-Identifier: MIT
#include "base/error_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "base/futex_lock.h"
#include "base/raw_io.h"
#include "base/write_signals.h"

namespace dft::base {

namespace {

constexpr int kDescriptor = 2;
constexpr long kNotNow = -EAGAIN;

struct Place {
  bool open = false;
  dev_t device = 0;
  ino_t inode = 0;
  mode_t type = 0;
  bool operator==(const Place& other) const {
    return open == other.open && device == other.device && inode == other.inode && type == other.type;
  }
};

bool noted = false;
Place started_with;
std::atomic<std::uint64_t> dropped_lines{0};

long address(const void* pointer) { return reinterpret_cast<long>(pointer); }

Place place_of(int fd) {
  struct ::stat found;
  if (raw::fstat(fd, &found) != 0) return {};
  return {true, found.st_dev, found.st_ino, found.st_mode & S_IFMT};
}

// A pipe that has room for PIPE_BUF bytes, a file, a device that takes something.
bool takes_bytes(int fd) {
  struct pollfd asked = {fd, POLLOUT, 0};
  struct timespec none = {0, 0};
  const long ready = raw::call(SYS_ppoll, address(&asked), 1, address(&none), 0, sizeof(std::uint64_t));
  if (ready != -EINVAL) return ready == 1 && asked.revents == POLLOUT;
  // poll asks for no more descriptors than the process may open (RLIMIT_NOFILE), which may be none at all.
  static_assert(kDescriptor < 64);
  std::uint64_t writable = std::uint64_t{1} << fd;
  return raw::call(SYS_pselect6, fd + 1, 0, address(&writable), 0, address(&none), 0) == 1;
}

bool is_terminal(int fd) {
  struct termios settings;
  return raw::call(SYS_ioctl, fd, TCGETS, address(&settings)) == 0;
}

// A terminal says that it takes bytes when it takes one. A second, non-blocking opening of it takes what it can.
long write_to_terminal(std::string_view lines) {
  const int fd = raw::open("/proc/thread-self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
  if (fd < 0) return raw::write(kDescriptor, lines.data(), lines.size());
  const long result = raw::write(fd, lines.data(), lines.size());
  raw::close(fd);
  return result;
}

// At most PIPE_BUF bytes. Returns what was written, or -errno.
long write_now(const Place& place, std::string_view lines) {
  if (place.type == S_IFSOCK) {
    return raw::call(SYS_sendto, kDescriptor, address(lines.data()), static_cast<long>(lines.size()),
                     MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  if (!takes_bytes(kDescriptor)) return kNotNow;
  if (place.type == S_IFCHR && is_terminal(kDescriptor)) return write_to_terminal(lines);
  return raw::write(kDescriptor, lines.data(), lines.size());
}

void tell_dropped(const Place& place, const WriteSignalsHeld& signals) {
  const std::uint64_t count = dropped_lines.exchange(0, std::memory_order_relaxed);
  if (count == 0) return;
  char line[80] = "dftracer: lines dropped because stderr did not take them: ";
  char* end = std::to_chars(line + std::strlen(line), line + sizeof line - 1, count).ptr;
  *end++ = '\n';
  const long result = write_now(place, {line, static_cast<std::size_t>(end - line)});
  signals.take_back(result);
  if (result < 0) dropped_lines.fetch_add(count, std::memory_order_relaxed);
}

// As many whole lines as a pipe takes in one piece.
std::size_t piece_of(std::string_view lines) {
  if (lines.size() <= PIPE_BUF) return lines.size();
  const std::size_t end = lines.rfind('\n', PIPE_BUF - 1);
  return end == std::string_view::npos ? PIPE_BUF : end + 1;
}

}  // namespace

void note_error_output() {
  started_with = place_of(kDescriptor);
  noted = true;
}

void write_error_output(std::string_view lines) {
  const SignalGuard whole_lines;  // no handler of this thread writes in between
  const WriteSignalsHeld signals;
  const Place place = place_of(kDescriptor);
  const bool may_write = place.open && (!noted || place == started_with);
  while (!lines.empty()) {
    const std::string_view piece = lines.substr(0, piece_of(lines));
    if (may_write) tell_dropped(place, signals);
    const long result = may_write ? write_now(place, piece) : kNotNow;
    signals.take_back(result);
    if (result < 0) {
      dropped_lines.fetch_add(static_cast<std::uint64_t>(std::count(piece.begin(), piece.end(), '\n')),
                              std::memory_order_relaxed);
    }
    lines.remove_prefix(piece.size());
  }
}

}  // namespace dft::base
