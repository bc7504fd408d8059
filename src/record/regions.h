// SPDX-License-Identifier: MIT
// Purpose: open regions: their slots, their args, and what is left of them when recording ends.
// Threads: a region belongs to the thread that opened it; another thread may close it.
// Invariants:
//   1. A handle is the slot's address with the low bits of its use count; a handle kept past the close, or one that was
//      never given out, does not match and is ignored.
//   2. Slots lie in kRegions chunks, `committed` of which covers every slot ever used (recovery reads no further).
#pragma once

#include "model/crash_file.h"
#include "record/emit.h"
#include "record/recorder.h"

namespace dft::record {

inline constexpr std::uintptr_t kHandleTagMask = 63;  // slots are 64-byte aligned
static_assert(sizeof(model::RegionSlot) % 64 == 0 && sizeof(model::ChunkHeader) % 64 == 0);

// Visits every open region. REQUIRES: recording is quiesced. `visit` gets the slot and its args.
struct OpenRegionVisitor {
  virtual void visit(const model::RegionSlot& slot, const char* args) = 0;

 protected:
  ~OpenRegionVisitor() = default;
};
void visit_open_regions(OpenRegionVisitor& visitor);

}  // namespace dft::record
