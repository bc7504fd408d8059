// SPDX-License-Identifier: MIT
// Purpose: the trace's clock. A reading is a tick count (invariant TSC where the machine has one, else nanoseconds of
//          CLOCK_MONOTONIC); ticks become wall-anchored nanoseconds only in the drain, through a ClockMap.
// Threads: now() from any thread. ClockMap has one owner (the drain).
// Invariants:
//   1. ClockMap::to_ns is a non-decreasing function that, once used for a tick, never changes for that tick; so
//   intervals
//      that nest in ticks nest in nanoseconds and in every floored unit.
//   2. Wall-clock steps do not move it: the wall anchor is read once.
// See: docs/adr/ (clock).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace dft::base {

using Ticks = std::uint64_t;

enum class ClockSource : std::uint32_t { kMonotonic = 0, kTsc = 1 };

struct ClockState {
  std::atomic<ClockSource> source;
  // Used when the TSC proved wrong during the run: monotonic nanoseconds are scaled into the tick domain already in
  // use.
  std::atomic<std::uint64_t> fallback_ns;
  std::atomic<std::uint64_t> fallback_ticks;
  std::atomic<double> fallback_ticks_per_ns;
};
extern ClockState clock_state;

// Chooses the source. `allow_tsc` false forces CLOCK_MONOTONIC. Called once before the first reading, again only to
// restart.
void clock_start(bool allow_tsc);

// One pair of readings of tick clock and CLOCK_MONOTONIC taken together; the narrowest of a few tries.
struct ClockPair {
  Ticks ticks;
  std::uint64_t monotonic_ns;
  std::uint64_t bracket_ns;  // width of the window in which both were read
};
// The TSC went astray at `now`: from here on CLOCK_MONOTONIC, scaled into the tick domain already in use.
void clock_distrust_tsc(const ClockPair& now, double ticks_per_ns);

Ticks clock_slow_now();  // CLOCK_MONOTONIC in the tick domain; errno kept

inline Ticks clock_now() {
#if defined(__x86_64__)
  if (__builtin_expect(clock_state.source.load(std::memory_order_relaxed) == ClockSource::kTsc, 1)) return __rdtsc();
#endif
  return clock_slow_now();
}

ClockPair clock_pair();
std::int64_t realtime_minus_monotonic_ns();
std::uint64_t monotonic_ns();

// A point of the piecewise-linear map; plain data so that it can lie in shared memory (model/crash_file.h).
struct ClockKnot {
  Ticks ticks;
  std::uint64_t trace_ns;
  double ns_per_tick;
};

class ClockMap {
 public:
  static constexpr std::size_t kMaxKnots = 4096;

  // Takes the anchor: trace time 0 of this map is `start`; trace_ns = monotonic + (REALTIME - MONOTONIC at that
  // moment).
  void start(const ClockPair& start, std::int64_t wall_minus_monotonic_ns);

  // To be called before ticks later than the last call are converted; adds a knot when due. Returns how far the map was
  // off the monotonic clock, in nanoseconds, measured at this moment.
  std::int64_t advance(const ClockPair& pair);

  // The piece that was used last, for many ticks at once; `span` 0: none. Ticks within it map as by to_ns().
  struct Piece {
    Ticks ticks;
    std::uint64_t span;
    std::uint64_t trace_ns;
    double ns_per_tick;
    bool has(Ticks at) const { return at - ticks < span; }
    std::uint64_t to_ns(Ticks at) const {  // REQUIRES: has(at)
      // Signed conversions are one instruction each, and exact for these.
      const double ns = static_cast<double>(static_cast<std::int64_t>(at - ticks)) * ns_per_tick;
      return trace_ns + static_cast<std::uint64_t>(static_cast<std::int64_t>(ns));
    }
  };
  Piece recent() const { return {recent_.ticks, recent_span_, recent_.trace_ns, recent_.ns_per_tick}; }

  std::uint64_t to_ns(Ticks ticks) const {
    const Piece piece = recent();
    return __builtin_expect(piece.has(ticks), 1) ? piece.to_ns(ticks) : to_ns_slowly(ticks);
  }

  // Rebuilds a map from stored knots (recovery).
  void restore(const ClockKnot* knots, std::size_t count);
  const ClockKnot* knots() const { return knots_; }
  std::uint64_t start_ns() const { return knots_[0].trace_ns; }
  double ticks_per_ns() const { return 1.0 / knots_[count_ - 1].ns_per_tick; }
  std::size_t knot_count() const { return count_; }
  std::int64_t wall_minus_monotonic_ns() const { return wall_offset_; }

 private:
  std::uint64_t to_ns_slowly(Ticks ticks) const;
  std::size_t knot_before(Ticks ticks) const;
  void remember(std::size_t knot) const;
  void thin();
  ClockPair first_{};
  ClockPair last_pair_{};  // the true readings at the last knot
  std::int64_t wall_offset_ = 0;
  std::size_t count_ = 0;
  ClockKnot knots_[kMaxKnots];
  // The piece that was used last: records come in runs of one piece.
  mutable ClockKnot recent_{};
  mutable std::uint64_t recent_span_ = 0;  // ticks that it covers; 0: none
};

}  // namespace dft::base
