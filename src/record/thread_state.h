// SPDX-License-Identifier: MIT
// Purpose: what one thread owns while it records: two streams of chunks, its pools of region slots, its loss counters.
// Threads: the owner writes; the drain reads what is marked so. `level` counts how deep the owner is inside the
// recorder:
//          0 outside, 1 in normal code, 2 in a signal handler that interrupted it. Each level has its own stream and
//          slots, so a handler never touches what it interrupted; deeper ones are refused and counted.
// Invariants:
//   1. A chunk belongs to the owner until it is pushed to the recorder's list of full chunks; only the drain frees
//   chunks.
//   2. While recording is inactive and `level` was seen 0 after a membarrier, the owner does not touch its streams.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "model/chunk.h"
#include "model/crash_file.h"

namespace dft::record {

struct Region;  // emit.h

struct Stream {
  char* pos = nullptr;                                // owner: where the next record goes
  char* limit = nullptr;                              // owner: end of the current chunk
  std::atomic<model::ChunkHeader*> current{nullptr};  // owner stores; the drain reads its committed part
  std::uint64_t next_seq = 0;                         // owner: chunks taken so far
  std::uint64_t drained_seq = 0;                      // drain: chunks drained whole so far
  std::atomic<std::uint32_t> outstanding{0};          // chunks taken and not yet given back
};

// Losses of one cause; written by the owner, read by the drain, never reset while recording.
struct LossCounter {
  std::atomic<std::uint64_t> count{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<base::Ticks> first{0};
  std::atomic<base::Ticks> last{0};
  void add(std::uint64_t lost_bytes, base::Ticks when) {
    if (count.load(std::memory_order_relaxed) == 0) first.store(when, std::memory_order_relaxed);
    last.store(when, std::memory_order_relaxed);
    bytes.fetch_add(lost_bytes, std::memory_order_relaxed);
    count.fetch_add(1, std::memory_order_release);  // pairs with the acquire in the drain: the rest is visible
  }
  void reset() {
    count.store(0, std::memory_order_relaxed);
    bytes.store(0, std::memory_order_relaxed);
  }
};
enum class LossCause : std::uint8_t { kBufferFull = 0, kSignalNesting = 1, kNoMemory = 2 };
inline constexpr int kLossCauses = 3;

enum class ThreadPhase : std::uint32_t { kFree = 0, kLive = 1, kExited = 2 };

struct alignas(128) ThreadState {       // several lie in one page; none shares what the processor fetches with another
  std::atomic<std::uint32_t> level{0};  // owner stores; read by the quiescing thread after a membarrier
  std::int32_t tid = 0;
  bool dying = false;     // attached when its thread can no longer say that it ends
  bool orphaned = false;  // of the parent of this process (interrupted.h)
  Stream streams[2];
  // The innermost region: what updates and the close nearly always mean.
  model::RegionSlot* innermost = nullptr;
  model::RegionSlot* free_slots[2] = {};
  const Region* closing = nullptr;      // the region that level 1 ends, or ended last: a handler leaves it alone
  model::RegionSlot* parked = nullptr;  // slots that a handler closed in the middle of an update of level 1
  std::atomic<model::RegionSlot*> returned{nullptr};  // slots that other threads closed
  LossCounter losses[kLossCauses];
  std::atomic<ThreadPhase> phase{ThreadPhase::kFree};
  std::atomic<model::ChunkHeader*> region_chunks{nullptr};  // chain over `next`; kept when the state is reused
  ThreadState* next = nullptr;                              // registry chain; entries are reused, never freed
  ThreadState* next_free = nullptr;                         // of the free ones
  // Drain only.
  std::uint64_t reported_losses[kLossCauses] = {};
  std::uint64_t seen_committed = 0;  // at the last liveness check
};

}  // namespace dft::record
