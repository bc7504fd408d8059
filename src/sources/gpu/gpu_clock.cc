// SPDX-License-Identifier: MIT
#include "sources/gpu/gpu_clock.h"

#include <cstring>

namespace dft::gpu {

std::int64_t GpuClock::add(const ClockSample& sample) {
  if (count_ == kMax) {  // the oldest half is of interest only for work that took minutes
    const std::size_t kept = kMax / 2;
    std::memmove(samples_, samples_ + kMax - kept, kept * sizeof samples_[0]);
    std::memmove(step_behind_, step_behind_ + kMax - kept, kept * sizeof step_behind_[0]);
    count_ = kept;
  }
  std::int64_t step = 0;
  if (count_ != 0) {
    const ClockSample& before = samples_[count_ - 1];
    const auto vendor = static_cast<std::int64_t>(sample.vendor_ns - before.vendor_ns);
    const auto truth = static_cast<std::int64_t>(sample.monotonic_ns - before.monotonic_ns);
    const std::int64_t off = vendor - truth;
    // A clock that is slewed runs off by at most some hundred millionths.
    const std::int64_t allowed = kStepNs + truth / 1000;
    if (off > allowed || off < -allowed) step = off;
    step_behind_[count_ - 1] = step != 0;
  }
  samples_[count_] = sample;
  step_behind_[count_] = false;
  ++count_;
  forget_piece();
  return step;
}

double GpuClock::rate_behind(std::size_t index) const {
  // The last sample has no successor: the rate of the piece before it. A piece with a step: by the monotonic clock.
  if (count_ < 2) return 1.0;
  const std::size_t from = index + 1 < count_ ? index : index - 1;
  const ClockSample& a = samples_[from];
  const ClockSample& b = samples_[from + 1];
  const bool by_monotonic = step_behind_[from] || b.vendor_ns <= a.vendor_ns;
  const std::uint64_t span = by_monotonic ? b.monotonic_ns - a.monotonic_ns : b.vendor_ns - a.vendor_ns;
  if (span == 0) return 1.0;
  return static_cast<double>(b.ticks - a.ticks) / static_cast<double>(span);
}

void GpuClock::remember(std::size_t index, double rate) const {
  const ClockSample& from = samples_[index];
  piece_ = {from.vendor_ns, kExact, from.ticks, rate};
  if (index + 1 == count_) return;
  const ClockSample& next = samples_[index + 1];
  if (next.vendor_ns > from.vendor_ns) piece_.span = next.vendor_ns - from.vendor_ns;
  // By rounding, or by the rate of a piece with a step: such a piece has its limit in the slow way.
  if (from.ticks + ticks_of(piece_.span - 1, rate) > next.ticks) piece_ = Piece{};
}

base::Ticks GpuClock::to_ticks_slowly(std::uint64_t vendor_ns) const {
  std::size_t at = count_ - 1;
  while (at > 0 && vendor_ns < samples_[at].vendor_ns) --at;
  const ClockSample& from = samples_[at];
  const double rate = rate_behind(at);
  if (vendor_ns < from.vendor_ns) {  // before the first sample
    const auto back = static_cast<base::Ticks>(static_cast<double>(from.vendor_ns - vendor_ns) * rate);
    return back < from.ticks ? from.ticks - back : 0;
  }
  remember(at, rate);
  const base::Ticks limit = at + 1 == count_ ? ~base::Ticks{0} : samples_[at + 1].ticks;
  const auto ahead = static_cast<base::Ticks>(static_cast<double>(vendor_ns - from.vendor_ns) * rate);
  return from.ticks + ahead < limit ? from.ticks + ahead : limit;
}

}  // namespace dft::gpu
