// SPDX-License-Identifier: MIT
#include "record/interrupted.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstring>

#include "base/raw_io.h"
#include "model/crash_file.h"
#include "record/recorder.h"

namespace dft::record {

using model::ChunkHeader;
using model::RegionSlot;

namespace raw = base::raw;

namespace {

bool shared = false;  // the fork that is under way, or the one that made this process, shares this thread's chunks

std::size_t size_of(const ChunkHeader* chunk) { return std::size_t{chunk->slots} * model::kChunkSize; }

template <class Visit>
void visit_args(RegionSlot& slot, const Visit& visit) {
  // Also of a closed one: it may have been closed in the middle of an update.
  if (slot.extent.load(std::memory_order_acquire).spilled == 0) return;
  ChunkHeader* list = slot.spill;
  visit(list);
  if (list->owner != nullptr) visit(static_cast<ChunkHeader*>(list->owner));  // its index (arg_index.h)
}

// What interrupted code of this thread may hold: the chunks that it writes to, and any open region with its args. The
// pool's lock is held, so that what other threads are about to give back is still there.
template <class Visit>
void visit_chunks(const Visit& visit) {
  for (const Stream& stream : this_thread->streams) {
    if (ChunkHeader* chunk = stream.current.load(std::memory_order_relaxed)) visit(chunk);
  }
  for (const ThreadState* state = recorder.threads(); state != nullptr; state = state->next) {
    ChunkHeader* chunk = state->region_chunks.load(std::memory_order_acquire);
    for (; chunk != nullptr; chunk = chunk->next) {
      visit(chunk);
      const std::uint64_t used = chunk->committed.load(std::memory_order_acquire);
      for (std::uint64_t at = 0; at + sizeof(RegionSlot) <= used; at += sizeof(RegionSlot)) {
        visit_args(*reinterpret_cast<RegionSlot*>(chunk->data() + at), visit);
      }
    }
  }
}

// A chunk of the parent's crash file becomes a copy at the same address.
void make_private(ChunkHeader* chunk) {
  if ((chunk->origin & model::kInCrashFile) == 0) return;
  const std::size_t size = size_of(chunk);
  void* copy = raw::map(size);
  if (copy == nullptr) return;
  std::memcpy(copy, chunk, size);
  static_cast<ChunkHeader*>(copy)->origin &= ~model::kInCrashFile;
  raw::call(SYS_mremap, reinterpret_cast<long>(copy), static_cast<long>(size), static_cast<long>(size),
            MREMAP_MAYMOVE | MREMAP_FIXED, reinterpret_cast<long>(chunk));
}

void forget_chunks(ThreadState* state) {
  for (Stream& stream : state->streams) {
    stream.pos = stream.limit = nullptr;
    stream.current.store(nullptr, std::memory_order_relaxed);
  }
  state->free_slots[0] = state->free_slots[1] = nullptr;
  state->parked = state->innermost = nullptr;
}

}  // namespace

void share_with_child(bool share) {
  if (this_thread == nullptr || this_thread->level.load(std::memory_order_relaxed) == 0) return;
  shared = share;
  visit_chunks(
      [share](ChunkHeader* chunk) { raw::madvise(chunk, size_of(chunk), share ? MADV_DOFORK : MADV_DONTFORK); });
}

void orphan_threads() {
  if (shared) visit_chunks(make_private);
  for (ThreadState* state = recorder.threads(); state != nullptr; state = state->next) {
    state->orphaned = true;
    if (!shared) forget_chunks(state);
  }
  shared = false;
}

bool may_take(const ThreadState* state) {
  if (!state->orphaned) return true;
  if (this_thread == state) this_thread = nullptr;
  return false;
}

}  // namespace dft::record
