// SPDX-License-Identifier: MIT
#include "base/clock.h"

namespace dft::base {

namespace {
// Knots come densely at first, while the rate is known only from a short span, then every second, then every ten.
constexpr std::uint64_t kFirstSpanNs = 500'000;
constexpr std::uint64_t kDenseNs = 1'000'000'000;
constexpr std::uint64_t kSparseNs = 10'000'000'000;

std::uint64_t due_after(std::uint64_t since_start_ns) {
  if (since_start_ns < kDenseNs) return since_start_ns < kFirstSpanNs ? kFirstSpanNs : since_start_ns / 2;
  return since_start_ns < 60 * kDenseNs ? kDenseNs : kSparseNs;
}

// Recovered memory may hold any ticks and any rate: what is no time, or more than 146 years, is 146 years.
std::uint64_t distance_ns(Ticks ticks, double ns_per_tick) {
  const double ns = static_cast<double>(ticks) * ns_per_tick;
  return ns >= 0.0 && ns < 0x1p62 ? static_cast<std::uint64_t>(ns) : std::uint64_t{1} << 62;
}

// Ticks are taken on other CPUs and slightly before the knot's own reading, so a small backward step is possible.
std::uint64_t scale(const ClockKnot& knot, Ticks ticks) {
  if (ticks >= knot.ticks) return knot.trace_ns + distance_ns(ticks - knot.ticks, knot.ns_per_tick);
  const std::uint64_t back = distance_ns(knot.ticks - ticks, knot.ns_per_tick);
  return back < knot.trace_ns ? knot.trace_ns - back : 0;
}
}  // namespace

void ClockMap::start(const ClockPair& start, std::int64_t wall_minus_monotonic_ns) {
  first_ = start;
  last_pair_ = start;
  wall_offset_ = wall_minus_monotonic_ns;
  count_ = 1;
  recent_span_ = 0;
  const std::uint64_t wall = start.monotonic_ns + static_cast<std::uint64_t>(wall_offset_);
  knots_[0] = {start.ticks, wall, 0.0};  // the rate is set by the first advance(), before anything is converted
}

std::int64_t ClockMap::advance(const ClockPair& pair) {
  if (pair.ticks <= first_.ticks || pair.monotonic_ns <= first_.monotonic_ns) {
    if (knots_[0].ns_per_tick == 0.0) knots_[0].ns_per_tick = 1.0;
    return 0;
  }
  const std::uint64_t truth = pair.monotonic_ns + static_cast<std::uint64_t>(wall_offset_);
  if (count_ == 1 && knots_[0].ns_per_tick == 0.0) {
    knots_[0].ns_per_tick =
        static_cast<double>(pair.monotonic_ns - first_.monotonic_ns) / static_cast<double>(pair.ticks - first_.ticks);
    recent_span_ = 0;
    return 0;
  }
  const ClockKnot& last = knots_[count_ - 1];
  const std::uint64_t mapped = scale(last, pair.ticks);
  const auto off = static_cast<std::int64_t>(mapped - truth);
  const std::uint64_t due = due_after(last.trace_ns - knots_[0].trace_ns);
  if (pair.ticks <= last.ticks || mapped < last.trace_ns + due) return off;

  // The new knot continues the old line (invariant 1) and is steered to meet the true line when the next knot is due.
  const ClockPair& from = due < kDenseNs ? first_ : last_pair_;
  const double rate =
      static_cast<double>(pair.monotonic_ns - from.monotonic_ns) / static_cast<double>(pair.ticks - from.ticks);
  const double ahead = static_cast<double>(due_after(mapped - knots_[0].trace_ns)) / rate;
  double steered = rate - static_cast<double>(off) / ahead;
  if (steered < rate * 0.5) steered = rate * 0.5;  // never backwards, whatever the measurement says
  if (steered > rate * 2.0) steered = rate * 2.0;
  if (count_ == kMaxKnots) thin();
  knots_[count_++] = {pair.ticks, mapped, steered};
  recent_span_ = 0;
  last_pair_ = pair;
  return off;
}

// Drops every second knot of the older half. Their lines are replaced by chords, so ticks of regions that are open
// since long ago can move by nanoseconds; the newest half stays exact.
void ClockMap::thin() {
  const std::size_t half = count_ / 2;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (i < half && i % 2 == 1) continue;
    knots_[kept++] = knots_[i];
  }
  count_ = kept;
  for (std::size_t i = 0; i + 1 < count_ && i < half; ++i) {
    knots_[i].ns_per_tick = static_cast<double>(knots_[i + 1].trace_ns - knots_[i].trace_ns) /
                            static_cast<double>(knots_[i + 1].ticks - knots_[i].ticks);
  }
}

std::size_t ClockMap::knot_before(Ticks ticks) const {
  std::size_t low = 0;
  std::size_t high = count_;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    if (knots_[middle].ticks <= ticks) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

void ClockMap::remember(std::size_t knot) const {
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;  // a double holds no longer distance
  recent_ = knots_[knot];
  recent_span_ = knot + 1 < count_ ? knots_[knot + 1].ticks - recent_.ticks : kExact;
  if (recent_span_ > kExact) recent_span_ = kExact;
  const bool fits = recent_.ns_per_tick >= 0.0 && recent_.ns_per_tick < 512.0;  // nanoseconds into 62 bits
  if (!fits) recent_span_ = 0;
}

std::uint64_t ClockMap::to_ns_slowly(Ticks ticks) const {
  const std::size_t knot = ticks >= knots_[count_ - 1].ticks ? count_ - 1 : knot_before(ticks);
  remember(knot);
  return scale(knots_[knot], ticks);
}

void ClockMap::restore(const ClockKnot* knots, std::size_t count) {
  count_ = count < kMaxKnots ? count : kMaxKnots;
  recent_span_ = 0;
  for (std::size_t i = 0; i < count_; ++i) knots_[i] = knots[i];
  if (count_ == 0) {
    count_ = 1;
    knots_[0] = {0, 0, 1.0};
  }
}

}  // namespace dft::base
