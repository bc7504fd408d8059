// SPDX-License-Identifier: MIT
// Purpose: times of the vendor's clock -> ticks of the trace clock, by pairs of readings taken while recording.
// Threads: one owner, the decoding thread.
// Invariant: between two samples the map is linear and meets both, so it is continuous and never runs backwards, but
//            where the vendor's clock was set (a step).
// Records then travel in ticks, as those of threads do: GPU work nests in the regions that issued it, because both go
// through the same map to nanoseconds (base::ClockMap).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace dft::gpu {

struct ClockSample {
  std::uint64_t vendor_ns;
  base::Ticks ticks;
  std::uint64_t monotonic_ns;
  std::uint64_t bracket_ns;  // width of the window in which all were read
};

class GpuClock {
 public:
  // The narrowest of a few tries.
  template <typename Now>
  static ClockSample sample(Now&& vendor_now_ns) {
    ClockSample best{};
    for (int i = 0; i < 5; ++i) {
      const std::uint64_t before = base::monotonic_ns();
      const std::uint64_t vendor = vendor_now_ns();
      const base::Ticks ticks = base::clock_now();
      const std::uint64_t after = base::monotonic_ns();
      if (i == 0 || after - before < best.bracket_ns)
        best = {vendor, ticks, before + (after - before) / 2, after - before};
    }
    return best;
  }

  void clear() { count_ = 0, forget_piece(); }
  // Samples come in the order of their ticks. Returns by how much the vendor's clock was set since the last one, 0 when
  // it was not.
  std::int64_t add(const ClockSample& sample);
  // REQUIRES: at least one sample.
  [[gnu::always_inline]] base::Ticks to_ticks(std::uint64_t vendor_ns) const {
    const std::uint64_t since = vendor_ns - piece_.vendor_ns;
    if (__builtin_expect(since >= piece_.span, 0)) return to_ticks_slowly(vendor_ns);
    return piece_.ticks + ticks_of(since, piece_.rate);
  }
  const ClockSample& last() const { return samples_[count_ - 1]; }
  std::size_t count() const { return count_; }

 private:
  static constexpr std::size_t kMax = 1024;
  static constexpr std::int64_t kStepNs = 1'000'000;
  static constexpr std::uint64_t kExact = std::uint64_t{1} << 53;  // a double holds no longer distance

  // Signed conversions are one instruction each.
  static base::Ticks ticks_of(std::uint64_t ns, double rate) {
    return static_cast<base::Ticks>(
        static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(ns)) * rate));
  }
  double rate_behind(std::size_t index) const;  // ticks per nanosecond
  base::Ticks to_ticks_slowly(std::uint64_t vendor_ns) const;
  void forget_piece() { piece_ = Piece{}; }

  ClockSample samples_[kMax];
  bool step_behind_[kMax] = {};  // the clock was set between this sample and the next
  std::size_t count_ = 0;
  // The piece that was used last: records come in runs of one piece. No time within it comes out behind the next
  // sample.
  struct Piece {
    std::uint64_t vendor_ns = 0;
    std::uint64_t span = 0;  // 0: none
    base::Ticks ticks = 0;
    double rate = 0.0;
  };
  void remember(std::size_t index, double rate) const;
  mutable Piece piece_;
};

}  // namespace dft::gpu
