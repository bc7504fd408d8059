// SPDX-License-Identifier: MIT
// Memory, synchronisation, unified memory, overhead; and the names of operations.
#include "sources/gpu/cupti/decode.h"

namespace dft::gpu::cupti {

namespace {
// Event ids of calls that have no event; CUPTI marks them either way.
constexpr std::uint32_t kNoEvent = 0;
constexpr std::uint32_t kDriverCompiler = 1;

// Which fields of a unified memory record mean something, by counter kind, and which of its ends is the GPU it is
// about.
struct UnifiedMemoryMeaning {
  bool has_end, has_source, has_target, on_source, on_target;
};
constexpr UnifiedMemoryMeaning kMeanings[] = {
    {true, true, true, false, false},     // unknown
    {true, true, true, false, true},      // transfer host to device
    {true, true, true, true, false},      // transfer device to host
    {false, false, false, false, false},  // CPU page fault
    {true, true, false, true, false},     // GPU page fault
    {false, false, false, false, false},  // thrashing: its source is a set of devices
    {true, true, false, true, false},     // throttling
    {false, true, true, false, true},     // remote map
    {true, true, true, false, true},      // transfer device to device
};
}  // namespace

bool decode_memory(Record record, Activity& out) {
  using namespace memory;
  if (record.size() < kLeastSize) return false;
  out.kind = ActivityKind::kMemory;
  const std::uint32_t operation = record.get(kOperation);
  out.operation = static_cast<std::uint16_t>(operation < kFirstPoolOperation ? operation : 0);
  out.begin = record.get(kTimestamp);
  out.device = record.get(kDevice);
  out.context = record.get(kContext);
  out.stream = record.get(kStream);
  out.correlation = record.get(kCorrelation);
  out.memory = {};
  out.memory.bytes = record.get(kBytes);
  out.memory.address = record.get(kAddress);
  out.memory.memory_kind = record.get(kMemoryKind);
  out.memory.pid = record.get(kPid);
  out.memory.is_async = record.get(kAsync) != 0;
  if (record.get(kPoolType) != 0) {
    out.memory.pool_address = record.get(kPoolAddress);
    // An imported pool has its exporter's process id in this place.
    if (record.get(kPoolType) == 1) out.memory.pool_size = record.get(kPoolSize);
  }
  out.memory.source = record.get(kSource, static_cast<const char*>(nullptr));
  return true;
}

bool decode_memory_pool(Record record, Activity& out) {
  using namespace memory_pool;
  if (record.size() < kLeastSize) return false;
  out.kind = ActivityKind::kMemory;
  const std::uint32_t operation = record.get(kOperation);
  out.operation = static_cast<std::uint16_t>(operation < kFirstPoolOperation ? kFirstPoolOperation + operation : 0);
  out.begin = record.get(kTimestamp);
  out.device = record.get(kDevice);
  out.correlation = record.get(kCorrelation);
  out.memory = {};
  out.memory.address = record.get(kAddress);
  out.memory.pool_address = out.memory.address;
  if (record.get(kPoolType) == 1) out.memory.pool_size = record.get(kSize);
  out.memory.pid = record.get(kPid);
  out.memory.is_pool = true;
  return true;
}

bool decode_sync(Record record, Activity& out) {
  using namespace synchronization;
  if (record.size() < kLeastSize) return false;
  out.kind = ActivityKind::kSync;
  const std::uint32_t type = record.get(kType);
  out.operation = static_cast<std::uint16_t>(type <= 4 ? type : 0);
  out.begin = record.get(kStart);
  out.end = record.get(kEnd);
  out.context = record.get(kContext);
  out.stream = record.get(kStream);
  out.correlation = record.get(kCorrelation);
  const std::uint32_t event = record.get(kEvent);
  out.sync = {event == kNoEvent && type > 2 ? kNoId : event, record.get(kReturnValue, 0u)};
  return true;
}

bool decode_unified_memory(Record record, Activity& out) {
  using namespace unified_memory;
  if (record.size() < kLeastSize) return false;
  out.kind = ActivityKind::kUnifiedMemory;
  const std::uint32_t counter = record.get(kCounterKind);
  out.operation = static_cast<std::uint16_t>(counter <= 8 ? counter : 0);
  out.begin = record.get(kStart);
  out.end = record.get(kEnd);
  out.stream = record.get(kStream);
  out.unified = {record.get(kValue),  record.get(kAddress), counter,
                 record.get(kSource), record.get(kTarget),  record.get(kPid)};
  const UnifiedMemoryMeaning& meaning = kMeanings[out.operation];
  if (!meaning.has_end) out.end = 0;
  if (!meaning.has_source) out.unified.src = kNoId;
  if (!meaning.has_target) out.unified.dst = kNoId;
  out.device = meaning.on_target ? out.unified.dst : meaning.on_source ? out.unified.src : kNoId;
  return true;
}

bool decode_overhead(Record record, Activity& out) {
  using namespace overhead;
  if (record.size() < kLeastSize) return false;
  out.kind = ActivityKind::kOverhead;
  const std::uint32_t kind = record.get(kOverheadKind);
  const std::uint32_t operation = kind == kDriverCompiler ? 1 : (kind & 0xffff) == 0 ? (kind >> 16) + 1 : 0;
  out.operation = static_cast<std::uint16_t>(kind != 0 && operation <= 9 ? operation : 0);
  out.begin = record.get(kStart);
  out.end = record.get(kEnd);
  const std::uint32_t correlation = record.get(kCorrelation, 0u);
  out.correlation = correlation != 0 ? correlation : kNoId;
  out.overhead = {kind, record.get(kObjectKind)};
  return true;
}

std::string_view fixed_operation_name(ActivityKind kind, unsigned operation) {
  static constexpr std::string_view kCopies[] = {"MemcpyUnknown", "MemcpyHtoD", "MemcpyDtoH", "MemcpyHtoA",
                                                 "MemcpyAtoH",    "MemcpyAtoA", "MemcpyAtoD", "MemcpyDtoA",
                                                 "MemcpyDtoD",    "MemcpyHtoH", "MemcpyPtoP"};
  static constexpr std::string_view kMemory[] = {"MemoryOperationUnknown", "MemoryAllocation", "MemoryRelease"};
  static constexpr std::string_view kPools[] = {"MemoryOperationUnknown", "MemoryPoolCreation", "MemoryPoolDestruction",
                                                "MemoryPoolTrimming"};
  static constexpr std::string_view kSyncs[] = {"SynchronizeUnknown", "EventSynchronize", "StreamWaitEvent",
                                                "StreamSynchronize", "ContextSynchronize"};
  static constexpr std::string_view kUnified[] = {
      "UnifiedMemoryCounter",      "UnifiedMemoryTransferHtoD", "UnifiedMemoryTransferDtoH",
      "UnifiedMemoryCpuPageFault", "UnifiedMemoryGpuPageFault", "UnifiedMemoryThrashing",
      "UnifiedMemoryThrottling",   "UnifiedMemoryRemoteMap",    "UnifiedMemoryTransferDtoD"};
  static constexpr std::string_view kOverheads[] = {"OverheadUnknown",
                                                    "OverheadDriverCompiler",
                                                    "OverheadBufferFlush",
                                                    "OverheadInstrumentation",
                                                    "OverheadResource",
                                                    "OverheadModuleLoading",
                                                    "OverheadLazyFunctionLoading",
                                                    "OverheadCommandBufferFull",
                                                    "OverheadActivityBufferRequest",
                                                    "OverheadUvmActivityInit"};
  const auto pick = [&](const std::string_view* names, std::size_t count, unsigned which) {
    return names[which < count ? which : 0];
  };
  switch (kind) {
    case ActivityKind::kMemcpy: return pick(kCopies, std::size(kCopies), operation);
    case ActivityKind::kMemcpyP2p: return "MemcpyPtoP";
    case ActivityKind::kMemset: return "Memset";
    case ActivityKind::kMemory:
      return operation < kFirstPoolOperation ? pick(kMemory, std::size(kMemory), operation)
                                             : pick(kPools, std::size(kPools), operation - kFirstPoolOperation);
    case ActivityKind::kSync: return pick(kSyncs, std::size(kSyncs), operation);
    case ActivityKind::kGraph: return "GraphTrace";
    case ActivityKind::kUnifiedMemory: return pick(kUnified, std::size(kUnified), operation);
    case ActivityKind::kOverhead: return pick(kOverheads, std::size(kOverheads), operation);
    case ActivityKind::kMarker: return "marker";
    default: return {};
  }
}

std::string_view category_name(ActivityKind kind) {
  static constexpr std::string_view kNames[kActivityKinds] = {
      "CUDA_RUNTIME_API", "CUDA_DRIVER_API", "CUDA_KERNEL", "CUDA_MEMCPY", "CUDA_MEMCPY_P2P",     "CUDA_MEMSET",
      "CUDA_MEMORY",      "CUDA_SYNC",       "CUDA_GRAPH",  "CUDA_MARKER", "CUDA_UNIFIED_MEMORY", "CUDA_OVERHEAD"};
  return kNames[static_cast<unsigned>(kind)];
}

}  // namespace dft::gpu::cupti
