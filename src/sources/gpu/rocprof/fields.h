// SPDX-License-Identifier: MIT
// Purpose: the args of AMD's records. symbol_hash, error, dur_ns and clock_suspect follow where they apply.
// See: docs/gpu.md for what each means.
#pragma once

#include <cstdint>

#include "sources/gpu/named_activity.h"

namespace dft::gpu::rocprof {

// In the order in which they are written; a record adds its own in this order.
enum class Field : std::uint8_t {
  kOperation,
  kCorrelation,
  kAncestor,
  kReturnValue,
  kPid,
  kAgent,
  kQueue,
  kStream,
  kDispatch,
  kKernel,
  kGridX,
  kGridY,
  kGridZ,
  kWorkgroupX,
  kWorkgroupY,
  kWorkgroupZ,
  kGroupSegment,
  kPrivateSegment,
  kBytes,
  kSrcAgent,
  kDstAgent,
  kSrcAddress,
  kDstAddress,
  kAddress,
  kStartAddr,  // of page migration up to 0.6; of KFD_* the next two
  kEndAddr,
  kStartAddress,
  kEndAddress,
  kFromAgent,  // likewise
  kToAgent,
  kKfdSrcAgent,
  kKfdDstAgent,
  kFromNode,
  kToNode,
  kPrefetchNode,
  kPreferredNode,
  kNode,
  kPrefetchAgent,
  kPreferredAgent,
  kFlags,
  kTrigger,
  kReadFault,
  kMigrated,
  kRescheduled,
  kErrorCode,
  kDroppedEvents,
  kVersion,
  kInstance,
  kTarget,
  kCount,
};
static_assert(static_cast<unsigned>(Field::kCount) <= kMostNamedFields);

extern const NamedField kFields[static_cast<unsigned>(Field::kCount)];

}  // namespace dft::gpu::rocprof
