// SPDX-License-Identifier: MIT
// Purpose: what is missing from a trace and why, gathered until it can be said in the trace (`loss` records) and in
// `end`. Threads: one owner (the drain).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/buffer.h"

namespace dft::write {

enum class Cause : std::uint8_t {
  kBufferFull,
  kSignalNesting,
  kNoMemory,
  kDiskFull,
  kFileLost,
  kWriteError,
  kUndecodable,
};
inline constexpr std::size_t kCauses = 7;
std::string_view cause_name(Cause cause);

struct Loss {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t first_ns = 0;  // trace clock
  std::uint64_t last_ns = 0;
};

class Losses {
 public:
  void add(Cause cause, std::uint64_t count, std::uint64_t bytes, std::uint64_t first_ns, std::uint64_t last_ns);
  // Takes one cause that has not been written yet. False when there is none.
  bool take_unreported(Cause* cause, Loss* loss);
  // Whether the records of what was taken since the last call reached the file; if not, it is to be reported again.
  void settle_reports(bool in_file);
  std::uint64_t total() const;
  // {"buffer_full":3,...}, causes without a loss left out.
  void append_sums(base::Buffer& out) const;

 private:
  Loss total_[kCauses];
  Loss unreported_[kCauses];
  Loss in_block_[kCauses];  // reported in the block that is being gathered
};

}  // namespace dft::write
