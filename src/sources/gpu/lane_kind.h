// SPDX-License-Identifier: MIT
// Purpose: the sorts of rows on which GPU work stands (lanes.h).
#pragma once

#include <cstdint>

namespace dft::gpu {

enum class LaneKind : std::uint8_t {
  kStream,
  kSync,
  kMemory,
  kUnifiedMemory,
  kOverhead,
  kQueue,
  kCopies,
  kScratch,
  kPageMigration,
};

}  // namespace dft::gpu
