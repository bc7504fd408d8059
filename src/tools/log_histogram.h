// SPDX-License-Identifier: MIT
// Purpose: percentiles of any number of values in little memory: 64 buckets per power of two, so that a bucket's middle
//          is at most 0.8 % off.
// Threads: one owner.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>

namespace dft::tools {

class LogHistogram {
 public:
  void add(std::uint64_t value) {
    const unsigned octave = octave_of(value);
    auto& buckets = octaves_[octave];
    if (!buckets) buckets = std::make_unique<std::array<std::uint64_t, kBuckets>>();
    ++(*buckets)[bucket_of(value, octave)];
    ++count_;
  }

  // The smallest value that at least `share` (0..1) of all values do not exceed (nearest rank): of few values the 99th
  // percentile is the largest. Where a multiple of `step` lies in the bucket, that one.
  std::uint64_t at(double share, std::uint64_t step = 1) const {
    if (count_ == 0) return 0;
    const double rank = std::ceil(share * static_cast<double>(count_) - 1e-6);
    auto left = std::clamp(static_cast<std::uint64_t>(std::max(rank, 1.0)), std::uint64_t{1}, count_);
    for (unsigned octave = 0; octave < octaves_.size(); ++octave) {
      if (!octaves_[octave]) continue;
      for (unsigned bucket = 0; bucket < kBuckets; ++bucket) {
        const std::uint64_t here = (*octaves_[octave])[bucket];
        if (here >= left) return middle(octave, bucket, step);
        left -= here;
      }
    }
    return 0;
  }

 private:
  static constexpr unsigned kBits = 6;
  static constexpr unsigned kBuckets = 1u << kBits;

  // Octave 0 holds 0..63 exactly; octave k the values of k + 6 bits.
  static unsigned octave_of(std::uint64_t value) {
    return value < kBuckets ? 0 : 64u - static_cast<unsigned>(__builtin_clzll(value)) - kBits;
  }
  static unsigned bucket_of(std::uint64_t value, unsigned octave) {
    return octave == 0 ? static_cast<unsigned>(value) : static_cast<unsigned>(value >> (octave - 1)) & (kBuckets - 1);
  }
  static std::uint64_t middle(unsigned octave, unsigned bucket, std::uint64_t step) {
    if (octave == 0) return bucket;
    const std::uint64_t low = (std::uint64_t{kBuckets} | bucket) << (octave - 1);
    const std::uint64_t size = std::uint64_t{1} << (octave - 1);
    const std::uint64_t half = low + size / 2;
    const std::uint64_t rounded = (half + step / 2) / step * step;
    return rounded >= low && rounded < low + size ? rounded : half;
  }

  std::array<std::unique_ptr<std::array<std::uint64_t, kBuckets>>, 64 - kBits + 1> octaves_;
  std::uint64_t count_ = 0;
};

}  // namespace dft::tools
