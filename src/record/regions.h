// SPDX-License-Identifier: MIT
// Purpose: open regions: their slots, their args, and what is left of them when recording ends.
// Threads: a region belongs to the thread that opened it; another thread may close it.
// Invariants:
//   1. A handle is the slot's address with its use count in the upper 16 bits, which user-space addresses leave free; a
//      handle kept past the close, or one that was never given out, does not match and is ignored.
//   2. Slots lie in kRegions chunks, `committed` of which covers every slot ever used (recovery reads no further).
#pragma once

#include "model/crash_file.h"
#include "record/emit.h"
#include "record/recorder.h"

namespace dft::record {

inline constexpr int kHandleTagShift = 48;
static_assert(sizeof(std::uintptr_t) == 8);

// Visits every open region. REQUIRES: recording is quiesced. `visit` gets the slot and its args.
struct OpenRegionVisitor {
  virtual void visit(const model::RegionSlot& slot, const char* args) = 0;

 protected:
  ~OpenRegionVisitor() = default;
};
void visit_open_regions(OpenRegionVisitor& visitor);

}  // namespace dft::record
