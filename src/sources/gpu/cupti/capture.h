// SPDX-License-Identifier: MIT
// Purpose: CUPTI's callbacks: they hand out buffers and take them back full, and see contexts being made.
// Threads: any of the application's and CUPTI's own.
// Invariant: no lock, no allocation, no decoding, and no call of CUPTI but for the one that unified memory needs once,
//            at the first context, and for the id of a graph when it is made executable.
#pragma once

#include <atomic>
#include <cstdint>

#include "sources/gpu/buffer_pool.h"
#include "sources/gpu/cupti/client.h"
#include "sources/gpu/cupti/functions.h"
#include "sources/gpu/cupti/graph_nodes.h"

namespace dft::gpu::cupti {

struct Capture {
  std::atomic<BufferPool*> pool{nullptr};
  std::atomic<bool> may_refuse{false};  // Version::may_refuse_buffers
  std::atomic<bool> dead{false};        // forked child: whatever comes is thrown away

  // Unified memory counters wait for a context.
  std::atomic<const Functions*> unified_memory{nullptr};  // null: not wanted
  const Client* client = nullptr;                         // set before
  std::atomic<bool> unified_memory_on{false};
  std::atomic<std::int32_t> unified_memory_result{-1};  // of the first attempt; -1: none yet

  std::atomic<const Functions*> graphs{nullptr};  // null: their nodes are not counted
  GraphSizes graph_sizes;
};
extern Capture& capture;  // never destroyed

void request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
void buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                      std::size_t valid);
void on_callback(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);

// Configures all counters and enables their kind. Any result; 13 (not ready) before a context exists.
CUptiResult start_unified_memory(const Functions& functions, const Client& client);

}  // namespace dft::gpu::cupti
