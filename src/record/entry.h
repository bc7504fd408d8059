// SPDX-License-Identifier: MIT
// Purpose: how a thread goes in and out of the recorder, and reserves and publishes room for a record.
// Threads: the calling thread only. REQUIRES for reserve/commit: between enter() and leave().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>

#include "model/args.h"
#include "model/record.h"
#include "record/recorder.h"

namespace dft::record {

inline constexpr std::uint32_t kMaxLevel = 2;  // normal code, and a signal handler that interrupted it

ThreadState* enter_slow();
bool take_chunk(ThreadState* state, Stream& stream, std::size_t record_size);

// Puts this thread's recording aside (around vfork) and takes it up again.
void suspend_thread();
void resume_thread();

// `outer`: the level from which the thread entered.
inline void leave(ThreadState* state, std::uint32_t outer) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // Release: who sees the level fall also sees what was written inside (Recorder::quiesce).
  state->level.store(outer, std::memory_order_release);
}
inline void leave(ThreadState* state) { leave(state, state->level.load(std::memory_order_relaxed) - 1); }

// The common case, without a call: null also when enter_slow() would find a way. `outer` gets the level from which the
// thread entered.
[[gnu::always_inline]] inline ThreadState* try_enter(std::uint32_t& outer) {
  const std::atomic<std::uint32_t>& active = control->active;
  if (__builtin_expect(active.load(std::memory_order_relaxed) == 0, 0)) return nullptr;
  ThreadState* state = this_thread;
  if (__builtin_expect(state == nullptr, 0)) return nullptr;
  outer = state->level.load(std::memory_order_relaxed);
  if (__builtin_expect(outer >= kMaxLevel, 0)) return nullptr;
  state->level.store(outer + 1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (__builtin_expect(active.load(std::memory_order_relaxed) == 0, 0)) {
    leave(state, outer);
    return nullptr;
  }
  return state;
}
[[gnu::always_inline]] inline ThreadState* try_enter() {
  std::uint32_t outer;
  return try_enter(outer);
}

// The same where nothing is interrupted: null also at level 1 or above. Its leave() is leave(state, 0).
[[gnu::always_inline]] inline ThreadState* try_enter_outermost() {
  const std::atomic<std::uint32_t>& active = control->active;
  if (__builtin_expect(active.load(std::memory_order_relaxed) == 0, 0)) return nullptr;
  ThreadState* state = this_thread;
  if (__builtin_expect(state == nullptr || state->level.load(std::memory_order_relaxed) != 0, 0)) return nullptr;
  state->level.store(1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (__builtin_expect(active.load(std::memory_order_relaxed) == 0, 0)) {
    leave(state, 0);
    return nullptr;
  }
  return state;
}

// Null when nothing can be recorded (inactive, nested too deep). Else leave() must follow.
inline ThreadState* enter() {
  ThreadState* state = try_enter();
  return __builtin_expect(state != nullptr, 1) ? state : enter_slow();
}
// The same; `outer` as of try_enter().
[[gnu::always_inline]] inline ThreadState* enter(std::uint32_t& outer) {
  ThreadState* state = try_enter(outer);
  if (__builtin_expect(state != nullptr, 1)) return state;
  state = enter_slow();
  outer = state == nullptr ? 0 : state->level.load(std::memory_order_relaxed) - 1;
  return state;
}

inline Stream& stream_of(ThreadState* state) {
  return state->streams[state->level.load(std::memory_order_relaxed) - 1];
}

// Room for a record in the chunk at hand, or null.
inline char* try_reserve(ThreadState* state, std::size_t size) {
  const Stream& stream = stream_of(state);
  return static_cast<std::size_t>(stream.limit - stream.pos) >= size ? stream.pos : nullptr;
}

inline char* reserve(ThreadState* state, Stream& stream, std::size_t size) {
  if (__builtin_expect(static_cast<std::size_t>(stream.limit - stream.pos) < size, 0)) {
    if (!take_chunk(state, stream, size)) return nullptr;
  }
  return stream.pos;
}

inline char* reserve(ThreadState* state, std::size_t size) { return reserve(state, stream_of(state), size); }

// `end`: behind the record.
[[gnu::always_inline]] inline void commit(Stream& stream, char* end) {
  stream.pos = end;
  model::ChunkHeader* chunk = stream.current.load(std::memory_order_relaxed);
  // Pairs with the acquire in the drain: the record is whole before it counts.
  chunk->committed.store(static_cast<std::uint64_t>(end - chunk->data()), std::memory_order_release);
}
inline void commit(Stream& stream, std::size_t size) { commit(stream, stream.pos + size); }
inline void commit(ThreadState* state, std::size_t size) { commit(stream_of(state), size); }

// Field by field, not as a copy of a header on the stack, which would have to leave the store buffer first (see
// model::copy_words). REQUIRES: header.size counts the args, which are whole words, as in all forms of args.
[[gnu::always_inline]] inline void put_record(char* at, const model::RecordHeader& header, const char* args) {
  constexpr std::size_t kFewWords = 96;
  ::new (at) model::RecordHeader{header.size, header.kind, header.flags, header.schema,
                                 header.site, header.lane, header.begin, header.end};
  const std::size_t args_size = header.size - sizeof header;
  if (__builtin_expect(args_size <= kFewWords, 1)) {
    model::copy_words(at + sizeof header, args, args_size);
  } else {
    std::memcpy(at + sizeof header, args, args_size);
  }
}

// One record, without a call. False when it takes the slow way (nothing is recorded, the thread's first event, the
// chunk is full), and then nothing has happened.
[[gnu::always_inline]] inline bool try_emit(const model::RecordHeader& header, const char* args) {
  ThreadState* state = try_enter();
  if (__builtin_expect(state == nullptr, 0)) return false;
  Stream& stream = stream_of(state);
  const bool fits = static_cast<std::size_t>(stream.limit - stream.pos) >= header.size;
  if (__builtin_expect(fits, 1)) {
    put_record(stream.pos, header, args);
    commit(stream, header.size);
  }
  leave(state);
  return fits;
}

}  // namespace dft::record
