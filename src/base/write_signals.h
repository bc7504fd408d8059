// SPDX-License-Identifier: MIT
// Purpose: what a write of ours may send to its thread (SIGPIPE: no reader; SIGXFSZ: beyond RLIMIT_FSIZE) and the
//          application must not get: held while one of these lives; the one that our own call caused is taken back, one
//          that was pending before stays the application's.
// Threads: the writing one, signal handlers included; raw system calls, errno kept.
#pragma once

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include <cstdint>

#include "base/raw_io.h"

namespace dft::base {

class WriteSignalsHeld {
 public:
  WriteSignalsHeld() {
    raw::call(SYS_rt_sigprocmask, SIG_BLOCK, address(&kBoth), address(&before_), sizeof kBoth);
    if ((before_ & kBoth) != 0) raw::call(SYS_rt_sigpending, address(&pending_), sizeof pending_);
  }
  ~WriteSignalsHeld() { raw::restore_signals(before_); }
  WriteSignalsHeld(const WriteSignalsHeld&) = delete;
  WriteSignalsHeld& operator=(const WriteSignalsHeld&) = delete;

  // With what the call gave: bytes or -errno.
  void take_back(long result) const {
    if (result != -EPIPE && result != -EFBIG) return;
    const std::uint64_t caused = std::uint64_t{1} << ((result == -EPIPE ? SIGPIPE : SIGXFSZ) - 1);
    if ((pending_ & caused) != 0) return;
    const struct timespec none = {0, 0};
    raw::call(SYS_rt_sigtimedwait, address(&caused), 0, address(&none), sizeof caused);
  }

 private:
  static constexpr std::uint64_t kBoth = std::uint64_t{1} << (SIGPIPE - 1) | std::uint64_t{1} << (SIGXFSZ - 1);
  static long address(const void* pointer) { return reinterpret_cast<long>(pointer); }
  std::uint64_t before_ = 0;
  std::uint64_t pending_ = 0;
};

}  // namespace dft::base
