// SPDX-License-Identifier: MIT
// Purpose: holds layouts.h and functions.h against the headers of the toolkit that this build uses. Nothing is left
//          of it in the product. The build lists the record structs and functions that the headers declare
//          (cmake/cupti_declarations.cmake); a struct of a later toolkit than we know is held against the newest
//          rules.
#include <type_traits>
#include <utility>

#include "sources/gpu/cupti/client.h"
#include "sources/gpu/cupti/cupti_headers.h"
#include "sources/gpu/cupti/functions.h"
#include "sources/gpu/cupti/graph_nodes.h"
#include "sources/gpu/cupti/layouts.h"

namespace dft::gpu::cupti {
namespace {

// Unused in a toolkit that does not declare a family.
#define DFT_PROOF                 \
  template <class R, int version> \
  [[maybe_unused]] constexpr void

#define DFT_AT(member, field)                                                                                     \
  static_assert(offsetof(R, member) == (field).offset, #member " moved");                                         \
  static_assert(sizeof(std::declval<R&>().member) == sizeof(decltype(field)::Type), #member " has another size"); \
  static_assert(                                                                                                  \
      (field).least_size <= sizeof(R) && (field).offset + sizeof(decltype(field)::Type) <= (field).least_size,    \
      #member " is not in every record that is taken to have it")

// From version `since` on the struct has the member; older ones are too short to be taken to have it.
#define DFT_SINCE(since, member, field)                                                              \
  if constexpr (version >= (since)) {                                                                \
    DFT_AT(member, field);                                                                           \
  } else {                                                                                           \
    static_assert(sizeof(R) < (field).least_size, #member " would be read from records without it"); \
  }                                                                                                  \
  static_assert(true)

DFT_PROOF prove_API() {
  DFT_AT(kind, kKind);
  DFT_AT(cbid, api::kCallback);
  DFT_AT(start, api::kStart);
  DFT_AT(end, api::kEnd);
  DFT_AT(processId, api::kPid);
  DFT_AT(threadId, api::kTid);
  DFT_AT(correlationId, api::kCorrelation);
  DFT_AT(returnValue, api::kReturnValue);
}

DFT_PROOF prove_kernel_launch() {
  DFT_AT(kind, kKind);
  DFT_AT(registersPerThread, kernel::kRegisters);
  DFT_AT(gridX, kernel::kGridX);
  DFT_AT(gridY, kernel::kGridY);
  DFT_AT(gridZ, kernel::kGridZ);
  DFT_AT(blockX, kernel::kBlockX);
  DFT_AT(blockY, kernel::kBlockY);
  DFT_AT(blockZ, kernel::kBlockZ);
  DFT_AT(staticSharedMemory, kernel::kStaticShared);
  DFT_AT(dynamicSharedMemory, kernel::kDynamicShared);
  DFT_AT(localMemoryPerThread, kernel::kLocalPerThread);
  DFT_AT(sharedMemoryExecuted, kernel::kSharedExecuted);
  DFT_AT(launchType, kernel::kLaunchType);
}

DFT_PROOF prove_Kernel() {
  prove_kernel_launch<R, version>();
  DFT_AT(start, kernel::kStart);
  DFT_AT(end, kernel::kEnd);
  DFT_AT(completed, kernel::kCompleted);
  DFT_AT(queued, kernel::kQueued);
  DFT_AT(submitted, kernel::kSubmitted);
  DFT_AT(deviceId, kernel::kDevice);
  DFT_AT(contextId, kernel::kContext);
  DFT_AT(streamId, kernel::kStream);
  DFT_AT(correlationId, kernel::kCorrelation);
  DFT_AT(gridId, kernel::kGridId);
  DFT_AT(name, kernel::kName);
  DFT_SINCE(5, graphNodeId, kernel::kGraphNode);
  DFT_SINCE(5, graphId, kernel::kGraph);
  DFT_SINCE(7, channelID, kernel::kChannel);
  DFT_SINCE(7, channelType, kernel::kChannelType);
  DFT_SINCE(8, clusterX, kernel::kClusterX);
  DFT_SINCE(8, clusterY, kernel::kClusterY);
  DFT_SINCE(8, clusterZ, kernel::kClusterZ);
  DFT_SINCE(10, isDeviceLaunched, kernel::kDeviceLaunched);
  DFT_SINCE(11, priority, kernel::kPriority);
  DFT_SINCE(13, sourceGraphId, kernel::kSourceGraph);
  DFT_SINCE(13, sourceGraphNodeId, kernel::kSourceGraphNode);
}

DFT_PROOF prove_Memcpy() {
  DFT_AT(kind, kKind);
  DFT_AT(copyKind, memcpy::kCopyKind);
  DFT_AT(srcKind, memcpy::kSourceKind);
  DFT_AT(dstKind, memcpy::kTargetKind);
  DFT_AT(flags, memcpy::kFlags);
  DFT_AT(bytes, memcpy::kBytes);
  DFT_AT(start, memcpy::kStart);
  DFT_AT(end, memcpy::kEnd);
  DFT_AT(deviceId, memcpy::kDevice);
  DFT_AT(contextId, memcpy::kContext);
  DFT_AT(streamId, memcpy::kStream);
  DFT_AT(correlationId, memcpy::kCorrelation);
  DFT_SINCE(3, graphNodeId, memcpy::kGraphNode);
  DFT_SINCE(4, graphId, memcpy::kGraph);
  DFT_SINCE(6, copyCount, memcpy::kCopyCount);
}

DFT_PROOF prove_MemcpyPtoP() {
  DFT_AT(kind, kKind);
  DFT_AT(copyKind, peer_copy::kCopyKind);
  DFT_AT(srcKind, peer_copy::kSourceKind);
  DFT_AT(dstKind, peer_copy::kTargetKind);
  DFT_AT(flags, peer_copy::kFlags);
  DFT_AT(bytes, peer_copy::kBytes);
  DFT_AT(start, peer_copy::kStart);
  DFT_AT(end, peer_copy::kEnd);
  DFT_AT(deviceId, peer_copy::kDevice);
  DFT_AT(contextId, peer_copy::kContext);
  DFT_AT(streamId, peer_copy::kStream);
  DFT_AT(srcDeviceId, peer_copy::kSourceDevice);
  DFT_AT(srcContextId, peer_copy::kSourceContext);
  DFT_AT(dstDeviceId, peer_copy::kTargetDevice);
  DFT_AT(dstContextId, peer_copy::kTargetContext);
  DFT_AT(correlationId, peer_copy::kCorrelation);
  DFT_SINCE(2, graphNodeId, peer_copy::kGraphNode);
  DFT_SINCE(3, graphId, peer_copy::kGraph);
}

DFT_PROOF prove_Memset() {
  DFT_AT(kind, kKind);
  DFT_AT(value, memset::kValue);
  DFT_AT(bytes, memset::kBytes);
  DFT_AT(start, memset::kStart);
  DFT_AT(end, memset::kEnd);
  DFT_AT(deviceId, memset::kDevice);
  DFT_AT(contextId, memset::kContext);
  DFT_AT(streamId, memset::kStream);
  DFT_AT(correlationId, memset::kCorrelation);
  DFT_AT(flags, memset::kFlags);
  DFT_AT(memoryKind, memset::kMemoryKind);
  DFT_SINCE(2, graphNodeId, memset::kGraphNode);
  DFT_SINCE(3, graphId, memset::kGraph);
}

DFT_PROOF prove_Synchronization() {
  DFT_AT(kind, kKind);
  DFT_AT(type, synchronization::kType);
  DFT_AT(start, synchronization::kStart);
  DFT_AT(end, synchronization::kEnd);
  DFT_AT(correlationId, synchronization::kCorrelation);
  DFT_AT(contextId, synchronization::kContext);
  DFT_AT(streamId, synchronization::kStream);
  DFT_AT(cudaEventId, synchronization::kEvent);
  DFT_SINCE(2, cudaEventSyncId, synchronization::kEventSync);
  DFT_SINCE(2, returnValue, synchronization::kReturnValue);
}

DFT_PROOF prove_GraphTrace() {
  DFT_AT(kind, kKind);
  DFT_AT(correlationId, graph_trace::kCorrelation);
  DFT_AT(start, graph_trace::kStart);
  DFT_AT(end, graph_trace::kEnd);
  DFT_AT(deviceId, graph_trace::kDevice);
  DFT_AT(graphId, graph_trace::kGraph);
  DFT_AT(contextId, graph_trace::kContext);
  DFT_AT(streamId, graph_trace::kStream);
  DFT_SINCE(2, endDeviceId, graph_trace::kEndDevice);
  DFT_SINCE(2, endContextId, graph_trace::kEndContext);
}

DFT_PROOF prove_Overhead() {
  DFT_AT(kind, kKind);
  DFT_AT(overheadKind, overhead::kOverheadKind);
  DFT_AT(objectKind, overhead::kObjectKind);
  DFT_AT(objectId.pt.processId, overhead::kObjectPid);
  DFT_AT(objectId.pt.threadId, overhead::kObjectTid);
  DFT_AT(start, overhead::kStart);
  DFT_AT(end, overhead::kEnd);
  DFT_SINCE(2, correlationId, overhead::kCorrelation);
}

DFT_PROOF prove_ExternalCorrelation() {
  DFT_AT(kind, kKind);
  DFT_AT(externalKind, external_correlation::kExternalKind);
  DFT_AT(externalId, external_correlation::kExternalId);
  DFT_AT(correlationId, external_correlation::kCorrelation);
}

DFT_PROOF prove_Memory() {
  DFT_AT(kind, kKind);
  DFT_AT(memoryOperationType, memory::kOperation);
  DFT_AT(memoryKind, memory::kMemoryKind);
  DFT_AT(correlationId, memory::kCorrelation);
  DFT_AT(address, memory::kAddress);
  DFT_AT(bytes, memory::kBytes);
  DFT_AT(timestamp, memory::kTimestamp);
  DFT_AT(PC, memory::kProgramCounter);
  DFT_AT(processId, memory::kPid);
  DFT_AT(deviceId, memory::kDevice);
  DFT_AT(contextId, memory::kContext);
  DFT_AT(streamId, memory::kStream);
  DFT_AT(name, memory::kName);
  DFT_AT(isAsync, memory::kAsync);
  DFT_AT(memoryPoolConfig.memoryPoolType, memory::kPoolType);
  DFT_AT(memoryPoolConfig.address, memory::kPoolAddress);
  DFT_AT(memoryPoolConfig.releaseThreshold, memory::kPoolReleaseThreshold);
  DFT_AT(memoryPoolConfig.pool.size, memory::kPoolSize);
  DFT_SINCE(3, memoryPoolConfig.utilizedSize, memory::kPoolUtilized);
  DFT_SINCE(4, source, memory::kSource);
}

DFT_PROOF prove_MemoryPool() {
  DFT_AT(kind, kKind);
  DFT_AT(memoryPoolOperationType, memory_pool::kOperation);
  DFT_AT(memoryPoolType, memory_pool::kPoolType);
  DFT_AT(correlationId, memory_pool::kCorrelation);
  DFT_AT(processId, memory_pool::kPid);
  DFT_AT(deviceId, memory_pool::kDevice);
  DFT_AT(minBytesToKeep, memory_pool::kMinBytesToKeep);
  DFT_AT(address, memory_pool::kAddress);
  DFT_AT(size, memory_pool::kSize);
  DFT_AT(releaseThreshold, memory_pool::kReleaseThreshold);
  DFT_AT(timestamp, memory_pool::kTimestamp);
  DFT_SINCE(2, utilizedSize, memory_pool::kUtilized);
}

DFT_PROOF prove_Marker() {
  DFT_AT(kind, kKind);
  DFT_AT(flags, marker::kFlags);
  DFT_AT(timestamp, marker::kTimestamp);
  DFT_AT(id, marker::kId);
  DFT_AT(objectKind, marker::kObjectKind);
  DFT_AT(objectId.pt.processId, marker::kObjectPid);
  DFT_AT(objectId.pt.threadId, marker::kObjectTid);
  DFT_AT(name, marker::kName);
  DFT_AT(domain, marker::kDomain);
}

DFT_PROOF prove_MarkerData() {
  DFT_AT(kind, kKind);
  DFT_AT(flags, marker_data::kFlags);
  DFT_AT(id, marker_data::kId);
  DFT_AT(payloadKind, marker_data::kPayloadKind);
  DFT_AT(payload.metricValueUint64, marker_data::kPayload);
  DFT_AT(color, marker_data::kColor);
  DFT_AT(category, marker_data::kCategory);
}

DFT_PROOF prove_UnifiedMemoryCounter() {
  DFT_AT(kind, kKind);
  DFT_AT(counterKind, unified_memory::kCounterKind);
  DFT_AT(value, unified_memory::kValue);
  DFT_AT(start, unified_memory::kStart);
  DFT_AT(end, unified_memory::kEnd);
  DFT_AT(address, unified_memory::kAddress);
  DFT_AT(srcId, unified_memory::kSource);
  DFT_AT(dstId, unified_memory::kTarget);
  DFT_AT(streamId, unified_memory::kStream);
  DFT_AT(processId, unified_memory::kPid);
  DFT_AT(flags, unified_memory::kFlags);
}

DFT_PROOF prove_Device() {
  DFT_AT(kind, kKind);
  DFT_AT(globalMemoryBandwidth, device::kMemoryBandwidth);
  DFT_AT(globalMemorySize, device::kMemorySize);
  DFT_AT(l2CacheSize, device::kL2Size);
  DFT_AT(numThreadsPerWarp, device::kWarpSize);
  DFT_AT(coreClockRate, device::kCoreClock);
  DFT_AT(numMemcpyEngines, device::kCopyEngines);
  DFT_AT(numMultiprocessors, device::kMultiprocessors);
  DFT_AT(computeCapabilityMajor, device::kCapabilityMajor);
  DFT_AT(computeCapabilityMinor, device::kCapabilityMinor);
  DFT_AT(id, device::kId);
  DFT_AT(eccEnabled, device::kEcc);
  DFT_AT(uuid, device::kUuid);
  DFT_AT(name, device::kName);
  DFT_SINCE(3, isCudaVisible, device::kCudaVisible);
  DFT_SINCE(4, isMigEnabled, device::kMigEnabled);
  DFT_SINCE(4, gpuInstanceId, device::kGpuInstance);
  DFT_SINCE(4, computeInstanceId, device::kComputeInstance);
  DFT_SINCE(4, migUuid, device::kMigUuid);
}

DFT_PROOF prove_Context() {
  DFT_AT(kind, kKind);
  DFT_AT(contextId, context::kId);
  DFT_AT(deviceId, context::kDevice);
  DFT_AT(nullStreamId, context::kNullStream);
  DFT_SINCE(2, parentContextId, context::kParent);
  DFT_SINCE(2, isGreenContext, context::kGreen);
}

DFT_PROOF prove_Stream() {
  DFT_AT(kind, kKind);
  DFT_AT(contextId, stream::kContext);
  DFT_AT(streamId, stream::kId);
  DFT_AT(priority, stream::kPriority);
  DFT_AT(flag, stream::kFlag);
  DFT_AT(correlationId, stream::kCorrelation);
}

#if CUPTI_API_VERSION >= 17  // 11.7
static_assert(offsetof(GraphData, graph) == offsetof(CUpti_GraphData, graph) &&
              offsetof(GraphData, exec) == offsetof(CUpti_GraphData, graphExec) &&
              sizeof(GraphData) == sizeof(CUpti_GraphData));
static_assert(std::uint32_t{kGraphCreated} == std::uint32_t{CUPTI_CBID_RESOURCE_GRAPH_CREATED} &&
              std::uint32_t{kGraphExecCreated} == std::uint32_t{CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED} &&
              std::uint32_t{kGraphNodeCloned} == std::uint32_t{CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED});
#endif

#if CUPTI_API_VERSION >= 130000
static_assert(offsetof(SubscriberParams, size) == offsetof(CUpti_SubscriberParams, structSize) &&
              offsetof(SubscriberParams, name) == offsetof(CUpti_SubscriberParams, subscriberName) &&
              offsetof(SubscriberParams, holder) == offsetof(CUpti_SubscriberParams, oldSubscriberName) &&
              offsetof(SubscriberParams, holder_size) == offsetof(CUpti_SubscriberParams, oldSubscriberSize));
#endif
#if CUPTI_API_VERSION >= 130300
static_assert(offsetof(SubscriberParams, share) == offsetof(CUpti_SubscriberParams, allowMultipleSubscribers) &&
              sizeof(SubscriberParams) == sizeof(CUpti_SubscriberParams));
static_assert(int(Attribute::kZeroedBuffers) == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER &&
              int(Attribute::kBufferPerThread) == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER &&
              int(Attribute::kAllocationSource) == CUPTI_ACTIVITY_ATTR_ENABLE_ALLOCATION_SOURCE_TRACKING &&
              int(Attribute::kGraphTrace) == CUPTI_ACTIVITY_ATTR_ENABLE_MULTI_SUBSCRIBER_GRAPH_TRACE &&
              int(Attribute::kThreadIdType) == CUPTI_ACTIVITY_ATTR_THREAD_ID_TYPE);
#endif

// A function has the type that the header gives it; parameters of types that only later headers know are void*.
template <class Ours, class Theirs>
struct SameCall : std::false_type {};
template <class Ours, class Theirs>
struct SameArgument
    : std::bool_constant<std::is_same_v<Ours, Theirs> || (std::is_same_v<Ours, void*> && std::is_pointer_v<Theirs>)> {};
template <class... Ours, class... Theirs>
struct SameCall<CUptiResult (*)(Ours...), CUptiResult (*)(Theirs...)>
    : std::bool_constant<sizeof...(Ours) == sizeof...(Theirs) && (SameArgument<Ours, Theirs>::value && ...)> {};

#define DFT_CUPTI_RECORD(family, version, type) \
  [[maybe_unused]] constexpr void (*const kProof_##type)() = &prove_##family<type, version>;
#define DFT_CUPTI_DECLARED(symbol) \
  static_assert(SameCall<Signature_##symbol, decltype(&::symbol)>::value, #symbol " has another signature");
#include "cupti_declarations.gen.h"

}  // namespace
}  // namespace dft::gpu::cupti
