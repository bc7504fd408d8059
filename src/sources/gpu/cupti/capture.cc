// SPDX-License-Identifier: MIT
#include "sources/gpu/cupti/capture.h"

#include <iterator>
#include <new>

namespace dft::gpu::cupti {

namespace {
alignas(Capture) unsigned char memory[sizeof(Capture)];
}  // namespace

Capture& capture = *new (memory) Capture;

void request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  BufferPool* pool = capture.pool.load(std::memory_order_acquire);
  *max_records = 0;  // as many as fit
  *buffer = nullptr;
  *size = 0;
  if (pool == nullptr) return;
  unsigned char* memory_of_buffer = nullptr;
  if (!capture.dead.load(std::memory_order_relaxed)) memory_of_buffer = pool->take();
  if (memory_of_buffer == nullptr && !capture.may_refuse.load(std::memory_order_relaxed)) {
    memory_of_buffer = pool->take_scratch();
  }
  *buffer = memory_of_buffer;
  *size = memory_of_buffer != nullptr ? pool->buffer_bytes() : 0;
}

void buffer_completed(CUcontext context, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  BufferPool* pool = capture.pool.load(std::memory_order_acquire);
  if (pool == nullptr || buffer == nullptr || capture.dead.load(std::memory_order_relaxed)) return;
  pool->push(buffer, valid, context);
}

CUptiResult start_unified_memory(const Functions& functions, const Client& client) {
  if (functions.configure_unified_memory == nullptr) return CUPTI_ERROR_NOT_SUPPORTED;
  // All eight: those that a device does not know are refused with the rest, so transfers alone are the second try.
  constexpr int kKinds[] = {1, 2, 3, 4, 5, 6, 7, 8};
  CUpti_ActivityUnifiedMemoryCounterConfig configs[std::size(kKinds)] = {};
  for (std::size_t i = 0; i < std::size(kKinds); ++i) {
    configs[i].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES;
    configs[i].kind = static_cast<CUpti_ActivityUnifiedMemoryCounterKind>(kKinds[i]);
    configs[i].deviceId = 0;
    configs[i].enable = 1;
  }
  CUptiResult result = functions.configure_unified_memory(configs, std::size(kKinds));
  if (result != CUPTI_SUCCESS) result = functions.configure_unified_memory(configs, 2);
  if (result != CUPTI_SUCCESS) return result;
  return client.enable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

namespace {

void on_graph(CUpti_CallbackId id, const void* data) {
  const Functions* functions = capture.graphs.load(std::memory_order_acquire);
  if (functions == nullptr || data == nullptr) return;
  const void* graph = static_cast<const CUpti_ResourceData*>(data)->resourceDescriptor;
  if (graph != nullptr) count_graph_nodes(id, *static_cast<const GraphData*>(graph), *functions, capture.graph_sizes);
}

}  // namespace

void on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (domain != CUPTI_CB_DOMAIN_RESOURCE || capture.dead.load(std::memory_order_relaxed)) return;
  if (id != CUPTI_CBID_RESOURCE_CONTEXT_CREATED) return on_graph(id, data);
  const Functions* functions = capture.unified_memory.load(std::memory_order_acquire);
  if (functions == nullptr) return;
  if (capture.unified_memory_on.exchange(true, std::memory_order_acq_rel)) return;
  capture.unified_memory_result.store(static_cast<std::int32_t>(start_unified_memory(*functions, *capture.client)),
                                      std::memory_order_release);
}

}  // namespace dft::gpu::cupti
