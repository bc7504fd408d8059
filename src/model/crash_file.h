// SPDX-License-Identifier: MIT
// Purpose: the file that holds a process's chunks in crash-safe mode (DFTRACER_CRASH_SAFE=1): one header, then slots of
//          kChunkSize. It lies beside the trace and is removed at a clean end; `dftracer recover` turns what is left
//          into lines.
// Invariants (what recovery relies on):
//   1. Events of block b are in the trace file exactly when b < pending_block, or b == pending_block and the file has
//      at least block_end bytes. Otherwise the trace is cut back to block_begin and chunks count from `drained`.
//      Between the commit of its record and the release of its slot a region stands in both: a slot whose (tid, site,
//      begin) equals a committed record's is that record.
//   2. Definitions and knots are stored before the records that need them are committed.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "model/chunk.h"
#include "model/trace_format.h"

namespace dft::model {

inline constexpr std::uint64_t kCrashMagic = 0x3148535243544644ull;  // "DFTCRSH1"
inline constexpr std::uint32_t kCrashVersion = 1;
inline constexpr std::uint32_t kCrashHeaderSize = 256 * 1024;
inline constexpr std::uint32_t kCrashGrowth = 64;  // slots by which it grows
// What the crash file leaves of its file system: the trace itself comes first.
inline constexpr std::uint64_t kRoomForTrace = 8u << 20;

struct CrashHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t chunk_size;
  std::int32_t pid;
  std::uint32_t metadata;  // DFTRACER_INC_METADATA
  std::uint32_t include_tids;
  TimeMetric time_metric;
  std::uint8_t compression;
  char host_hash[16];
  char trace_path[4096];                  // absolute, NUL-terminated
  std::atomic<std::uint64_t> slot_count;  // slots in use, chunks may span several
  std::atomic<std::uint64_t> pending_block;
  std::atomic<std::uint64_t> block_begin;      // trace file size before that block
  std::atomic<std::uint64_t> block_end;        // after it
  std::atomic<std::uint64_t> next_id;          // `id` of the first event after the last block that is safe
  std::atomic<std::uint64_t> pending_next_id;  // the same once pending_block is safe
  std::atomic<std::uint64_t> now_ticks;        // last moment the drain ran, for open regions
  std::atomic<std::uint64_t> knot_count;
  base::ClockKnot knots[base::ClockMap::kMaxKnots];
};
static_assert(sizeof(CrashHeader) <= kCrashHeaderSize);

// How far the args of an open region reach. Stored as one word, so that a process killed at any moment leaves args that
// agree with it.
struct alignas(8) ArgExtent {
  SchemaId schema;
  std::uint16_t spilled;  // 1: the args lie in a kSpill chunk instead of the slot
  std::uint32_t bytes;
};
static_assert(std::atomic<ArgExtent>::is_always_lock_free);

inline constexpr std::uintptr_t kClosedHandle = 1;  // no pointer that anyone was given

// A region that is open, as it stands in a kRegions chunk (array of fixed-size slots behind the header).
struct RegionSlot {
  std::atomic<std::uint32_t> state;  // 0 free, 1 open
  std::int32_t tid;
  SiteId site;
  std::uint8_t flags;
  std::uint8_t busy;  // the owner is changing the args
  std::uint64_t begin;
  std::atomic<ArgExtent> extent;
  std::uint64_t spill_slot;  // file slot of the kSpill chunk, if `spilled`
  // Process-local; meaningless after death.
  ChunkHeader* spill;
  // Open: the thread's innermost region when this one was opened; it may be closed or reused by now. Closed: the next
  // slot that is free.
  RegionSlot* link;
  void* owner;                         // its thread's state
  std::uint64_t uses;                  // how often the slot was closed; its low 16 bits tag the handles given out
  std::atomic<std::uintptr_t> handle;  // the one by which the open region is known; kClosedHandle
  char args[304];
};
static_assert(sizeof(RegionSlot) == 384);

}  // namespace dft::model
