// SPDX-License-Identifier: MIT
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/raw_io.h"

namespace dft::base {

ClockState clock_state;

namespace {

std::uint64_t read_clock(clockid_t id) {
  // vDSO call; it cannot fail for these ids and leaves errno alone.
  struct timespec now;
  clock_gettime(id, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

#if defined(__x86_64__)
bool cpu_has_invariant_tsc() {
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1u << 8)) != 0;
}

// The kernel itself uses the TSC only after it has checked that it is synchronous on all CPUs; when it uses something
// else, we do not know better. Without /sys (containers) the CPU's word counts and the drain keeps verifying.
bool kernel_trusts_tsc() {
  const int fd = raw::open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return true;
  char name[16] = {};
  const long size = raw::read(fd, name, sizeof name - 1);
  raw::close(fd);
  return size <= 0 || strncmp(name, "tsc", 3) == 0 || strncmp(name, "kvm-clock", 9) == 0 ||
         strncmp(name, "hyperv", 6) == 0;
}
#endif

}  // namespace

std::uint64_t monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }

std::int64_t realtime_minus_monotonic_ns() {
  // The wall clock between two monotonic readings; the narrowest bracket of a few tries.
  std::int64_t best = 0;
  std::uint64_t best_width = ~std::uint64_t{0};
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = monotonic_ns();
    const std::uint64_t wall = read_clock(CLOCK_REALTIME);
    const std::uint64_t after = monotonic_ns();
    if (after - before < best_width) {
      best_width = after - before;
      best = static_cast<std::int64_t>(wall - (before + best_width / 2));
    }
  }
  return best;
}

void clock_start(bool allow_tsc) {
  ClockSource source = ClockSource::kMonotonic;
#if defined(__x86_64__)
  if (allow_tsc && cpu_has_invariant_tsc() && kernel_trusts_tsc()) source = ClockSource::kTsc;
#else
  (void)allow_tsc;
#endif
  clock_state.fallback_ns.store(0, std::memory_order_relaxed);
  clock_state.fallback_ticks.store(0, std::memory_order_relaxed);
  clock_state.fallback_ticks_per_ns.store(1.0, std::memory_order_relaxed);
  clock_state.source.store(source, std::memory_order_release);
}

void clock_distrust_tsc(const ClockPair& now, double ticks_per_ns) {
  if (clock_state.source.load(std::memory_order_relaxed) != ClockSource::kTsc) return;
  clock_state.fallback_ticks.store(now.ticks, std::memory_order_relaxed);
  clock_state.fallback_ticks_per_ns.store(ticks_per_ns, std::memory_order_relaxed);
  clock_state.fallback_ns.store(now.monotonic_ns, std::memory_order_relaxed);
  clock_state.source.store(ClockSource::kMonotonic, std::memory_order_seq_cst);
}

Ticks clock_slow_now() {
  const std::uint64_t now = monotonic_ns();
  const std::uint64_t base_ns = clock_state.fallback_ns.load(std::memory_order_relaxed);
  if (base_ns == 0) return now;
  const double rate = clock_state.fallback_ticks_per_ns.load(std::memory_order_relaxed);
  const std::uint64_t since = now > base_ns ? now - base_ns : 0;
  return clock_state.fallback_ticks.load(std::memory_order_relaxed) +
         static_cast<Ticks>(static_cast<double>(since) * rate);
}

ClockPair clock_pair() {
  ClockPair best{0, 0, ~std::uint64_t{0}};
  if (clock_state.source.load(std::memory_order_relaxed) == ClockSource::kMonotonic &&
      clock_state.fallback_ns.load(std::memory_order_relaxed) == 0) {
    const std::uint64_t now = monotonic_ns();
    return {now, now, 0};
  }
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = monotonic_ns();
    const Ticks ticks = clock_now();
    const std::uint64_t after = monotonic_ns();
    if (after - before < best.bracket_ns) best = {ticks, before + (after - before) / 2, after - before};
  }
  return best;
}

}  // namespace dft::base
