// SPDX-License-Identifier: MIT
// Purpose: a small lock that needs no libc, can be re-initialised in a forked child, and is not seen by interceptors.
// Threads: any. Not recursive. Holders block signals (SignalGuard) so that a handler cannot deadlock on its own thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/raw_io.h"

namespace dft::base {

class FutexLock {
 public:
  void lock() {
    std::uint32_t expected = 0;
    if (word_.compare_exchange_strong(expected, 1, std::memory_order_acquire)) return;
    while (word_.exchange(2, std::memory_order_acquire) != 0) raw::futex_wait(&word_, 2, 1'000'000'000);
  }
  bool try_lock() {
    std::uint32_t expected = 0;
    return word_.compare_exchange_strong(expected, 1, std::memory_order_acquire);
  }
  void unlock() {
    if (word_.exchange(0, std::memory_order_release) == 2) raw::futex_wake(&word_, 1);
  }
  void reset_after_fork() { word_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> word_{0};
};

// Blocks every signal on this thread while it lives.
class SignalGuard {
 public:
  SignalGuard() : before_(raw::block_signals()) {}
  ~SignalGuard() { raw::restore_signals(before_); }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  std::uint64_t before_;
};

// Signals blocked, then the lock held.
class LockGuard {
 public:
  explicit LockGuard(FutexLock& lock) : lock_(lock) { lock_.lock(); }
  ~LockGuard() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  SignalGuard signals_;
  FutexLock& lock_;
};

}  // namespace dft::base
