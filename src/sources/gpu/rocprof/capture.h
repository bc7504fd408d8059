// SPDX-License-Identifier: MIT
// Purpose: rocprofiler-sdk's callbacks: they copy records out of the library's buffers, keep the symbols of kernels,
//          and tell work which stream and call it belongs to.
// Threads: any of the application's and the library's own.
// Invariants:
//   1. No decoding, no call of the library, no malloc. A record is copied as it is: the library's buffer is its own
//      again when the callback returns.
//   2. All of it outlives static destruction: the library's own end delivers what is left.
#pragma once

#include <atomic>
#include <cstdint>

#include "sources/gpu/buffer_pool.h"
#include "sources/gpu/rocprof/functions.h"
#include "sources/gpu/rocprof/symbols.h"

namespace dft::gpu::rocprof {

// A pool's buffer holds frames, each on 8 bytes: this, then `bytes` of the record, padded.
struct Frame {
  std::uint32_t bytes;  // of the record, or of its beginning when its size makes no sense
  std::uint32_t kind;   // of its header: the library's number
};
inline constexpr std::size_t kLargestRecord = 4096;

// One buffer of the library's for each group, so that rare records do not wait for frequent ones.
enum class Group : std::uint8_t { kCalls, kKernels, kCopies, kRest };
inline constexpr unsigned kGroups = 4;

// What a record's external correlation id says: work carries the stream and the HIP call that its thread was in.
struct ExternalId {
  static constexpr unsigned kCallBits = 44;
  static std::uint64_t make(std::uint64_t call, std::uint64_t stream_plus_1) {
    return (call & ((std::uint64_t{1} << kCallBits) - 1)) | stream_plus_1 << kCallBits;
  }
  static std::uint64_t call(std::uint64_t id) { return id & ((std::uint64_t{1} << kCallBits) - 1); }
  static std::uint64_t stream_plus_1(std::uint64_t id) { return id >> kCallBits; }  // 0: not known
};

struct Capture {
  std::atomic<BufferPool*> pool{nullptr};
  std::atomic<bool> dead{false};  // forked child: whatever comes is thrown away
  std::atomic<void (*)()> thread_begins{nullptr};
  std::atomic<std::uint64_t> drops[kGroups];  // as the library counts: since the buffer was made
  std::atomic<std::uint64_t> no_buffer{0};    // records for which the pool had none
  std::atomic<std::uint64_t> strange{0};      // records that are not of the tracing category
  std::atomic<std::uint64_t> work_asked{0};   // kernels and copies that calls asked for
  std::atomic<std::uint64_t> work_delivered{0};
  std::atomic<bool> in_use{false};  // HSA was seen at work
  Symbols symbols;
};
extern Capture& capture;  // never destroyed

void on_buffer(Id context, Id buffer, RecordHeader** records, std::size_t count, void* group, std::uint64_t drops);
// CODE_OBJECT and HIP_STREAM.
void on_kernel_symbol0(CallbackRecord0 record, std::uint64_t* user, void* data);
void on_kernel_symbol1(CallbackRecord1 record, std::uint64_t* user, void* data);
void on_stream1(CallbackRecord1 record, std::uint64_t* user, void* data);
int on_request(std::uint64_t thread, Id context, int kind, std::int32_t operation, std::uint64_t internal,
               std::uint64_t* external, void* data);

}  // namespace dft::gpu::rocprof
