// SPDX-License-Identifier: MIT
// Writes a small recording with a record of every kind that dftracer decodes, made from the toolkit's own structs
// (those of CUDA 13.0), so that our layouts are held against the vendor's and not against themselves.
//   make_synthetic FILE
#include <cupti.h>

#include <cstddef>

#include "recording.h"

namespace {

constexpr std::uint64_t kStart = 1'700'000'000'000'000'000;  // ns; the time of the first record
constexpr std::uint32_t kNone = 0xffffffff;
constexpr std::uint32_t kPid = 4242, kThread = 4243;
const char* const kVectorAdd = "_ZN5train10vector_addIfLi128EEEvPKT_S3_PS1_i";
const char* const kVectorAddDouble = "_ZN5train10vector_addIdLi128EEEvPKT_S3_PS1_i";

class Maker {
 public:
  standin::Recording recording;

  void start_buffer(std::uint32_t thread) {
    recording.buffers.emplace_back();
    recording.buffers.back().thread = thread;
  }
  template <typename Record>
  void add(Record record) {
    std::uint32_t kind;
    std::memcpy(&kind, &record, 4);
    recording.kinds[kind] = sizeof record;
    standin::Buffer& buffer = recording.buffers.back();
    const auto at = static_cast<std::uint32_t>(buffer.bytes.size());
    auto* bytes = reinterpret_cast<char*>(&record);
    for (const standin::TextField& field : standin::kTextFields) {
      if (field.kind != kind || sizeof record < field.least) continue;
      const char* text;
      std::memcpy(&text, bytes + field.offset, sizeof text);
      buffer.pointers.push_back({at + field.offset, recording.text(text)});
      std::memset(bytes + field.offset, 0, sizeof text);
    }
    buffer.bytes.append(bytes, sizeof record);
  }
  void name(std::uint32_t domain, std::uint32_t id, const char* text) { recording.names[{domain, id}] = text; }
  void api(CUpti_ActivityKind kind, std::uint32_t id, std::uint32_t correlation, std::uint64_t start, std::uint64_t end,
           std::uint32_t result = 0, std::uint32_t thread = kThread) {
    CUpti_ActivityAPI record{};
    record.kind = kind;
    record.cbid = id;
    record.start = kStart + start;
    record.end = kStart + end;
    record.processId = kPid;
    record.threadId = thread;
    record.correlationId = correlation;
    record.returnValue = result;
    add(record);
  }
  void runtime(std::uint32_t id, std::uint32_t correlation, std::uint64_t start, std::uint64_t end,
               std::uint32_t result = 0, std::uint32_t thread = kThread) {
    api(CUPTI_ACTIVITY_KIND_RUNTIME, id, correlation, start, end, result, thread);
  }
  void driver(std::uint32_t id, std::uint32_t correlation, std::uint64_t start, std::uint64_t end) {
    api(CUPTI_ACTIVITY_KIND_DRIVER, id, correlation, start, end);
  }
};

CUpti_ActivityKernel10 kernel(const char* name, std::uint32_t correlation, std::uint64_t start, std::uint64_t end) {
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.registersPerThread = 32;
  record.start = kStart + start;
  record.end = kStart + end;
  record.deviceId = 0;
  record.contextId = 1;
  record.streamId = 7;
  record.gridX = 1024;
  record.gridY = record.gridZ = 1;
  record.blockX = 256;
  record.blockY = record.blockZ = 1;
  record.staticSharedMemory = 48;
  record.dynamicSharedMemory = 4096;
  record.localMemoryPerThread = 16;
  record.correlationId = correlation;
  record.gridId = correlation + 100;
  record.name = name;
  return record;
}

void facts(Maker& maker) {
  CUpti_ActivityDevice5 device{};
  device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  device.globalMemoryBandwidth = 4'800'000'000;
  device.globalMemorySize = 150'000'000'000;
  device.coreClockRate = 1'980'000;
  device.numMultiprocessors = 132;
  device.computeCapabilityMajor = 9;
  device.id = 0;
  for (int i = 0; i < 16; ++i) device.uuid.bytes[i] = static_cast<char>(i * 16 + i);
  device.name = "NVIDIA H200";
  maker.add(device);
  CUpti_ActivityContext3 context{};
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  context.contextId = 1;
  context.deviceId = 0;
  context.nullStreamId = 7;
  maker.add(context);
  CUpti_ActivityStream stream{};
  stream.kind = CUPTI_ACTIVITY_KIND_STREAM;
  stream.contextId = 1;
  stream.streamId = 13;
  stream.priority = static_cast<std::uint32_t>(-5);
  maker.add(stream);
}

void memory_calls(Maker& maker) {
  maker.runtime(20, 1, 1'000, 61'000);      // cudaMalloc
  maker.runtime(20, 2, 62'000, 63'000, 2);  // another, in vain
  maker.driver(243, 3, 64'000, 70'000);     // cuMemAlloc_v2
  CUpti_ActivityMemory4 memory{};
  memory.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  memory.correlationId = 1;
  memory.address = 0x7f0000000000;
  memory.bytes = 1 << 20;
  memory.timestamp = kStart + 60'000;
  memory.processId = kPid;
  memory.deviceId = 0;
  memory.contextId = 1;
  memory.streamId = kNone;
  memory.source = "/app/lib/libmodel.so";
  maker.add(memory);
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  memory.correlationId = 4;
  memory.timestamp = kStart + 900'000;
  memory.isAsync = 1;
  memory.streamId = 13;
  memory.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  memory.memoryPoolConfig.address = 0x55550000;
  memory.memoryPoolConfig.pool.size = 32 << 20;
  memory.source = nullptr;
  maker.add(memory);
  CUpti_ActivityMemoryPool3 pool{};
  pool.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL;
  pool.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED;
  pool.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  pool.correlationId = 5;
  pool.processId = kPid;
  pool.deviceId = 0;
  pool.address = 0x55550000;
  pool.size = 32 << 20;
  pool.timestamp = kStart + 75'000;
  maker.add(pool);
}

void copies(Maker& maker) {
  maker.runtime(31, 10, 100'000, 130'000);  // cudaMemcpy
  CUpti_ActivityMemcpy6 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.bytes = 1 << 20;
  copy.start = kStart + 110'000;
  copy.end = kStart + 128'000;
  copy.contextId = 1;
  copy.streamId = 7;
  copy.correlationId = 10;
  maker.add(copy);
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  copy.streamId = 13;
  copy.start = kStart + 131'000;
  copy.end = kStart + 131'700;  // below a microsecond
  copy.correlationId = 11;
  maker.add(copy);
  CUpti_ActivityMemcpyPtoP4 peer{};
  peer.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  peer.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  peer.srcKind = peer.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  peer.bytes = 2 << 20;
  peer.start = kStart + 140'000;
  peer.end = kStart + 150'000;
  peer.contextId = 1;
  peer.streamId = 13;
  peer.srcContextId = 1;
  peer.dstDeviceId = 1;
  peer.dstContextId = 2;
  peer.correlationId = 12;
  maker.add(peer);
  CUpti_ActivityMemset4 memset{};
  memset.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  memset.value = 0xab;
  memset.bytes = 4096;
  memset.start = kStart + 152'000;
  memset.end = kStart + 154'000;
  memset.contextId = 1;
  memset.streamId = 7;
  memset.correlationId = 13;
  maker.add(memset);
}

void kernels(Maker& maker) {
  maker.runtime(211, 20, 200'000, 205'000);             // cudaLaunchKernel
  maker.add(kernel(kVectorAdd, 20, 204'000, 204'850));  // begins before the call returns
  maker.runtime(211, 21, 206'000, 208'000, 0, kThread + 1);
  maker.add(kernel(kVectorAddDouble, 21, 209'000, 219'000));
  CUpti_ActivityKernel10 clustered = kernel("plain_c_kernel", 22, 220'000, 230'000);
  clustered.clusterX = 2;
  clustered.clusterY = clustered.clusterZ = 1;
  clustered.streamId = 13;
  maker.add(clustered);
  maker.driver(307, 23, 231'000, 232'000);  // cuLaunchKernel
  maker.driver(700, 24, 232'000, 232'500);  // cuKernelGetName: CUPTI's own call
  maker.runtime(17, 25, 233'000, 233'100);  // cudaGetDevice: quiet
}

void graphs(Maker& maker) {
  maker.runtime(311, 30, 300'000, 310'000);  // cudaGraphLaunch
  CUpti_ActivityGraphTrace2 graph{};
  graph.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  graph.correlationId = 30;
  graph.start = kStart + 308'000;
  graph.end = kStart + 390'000;
  graph.graphId = 5;
  graph.contextId = 1;
  graph.streamId = 13;
  maker.add(graph);
  CUpti_ActivityKernel10 node = kernel(kVectorAdd, 31, 400'000, 410'000);
  node.graphId = 5;
  node.graphNodeId = 0x500000001;
  node.streamId = 13;
  maker.add(node);
}

void the_rest(Maker& maker) {
  maker.runtime(165, 40, 500'000, 600'000);  // cudaDeviceSynchronize
  CUpti_ActivitySynchronization2 sync{};
  sync.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  sync.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  sync.start = kStart + 501'000;
  sync.end = kStart + 599'000;
  sync.correlationId = 40;
  sync.contextId = 1;
  sync.streamId = kNone;
  sync.cudaEventId = kNone;
  maker.add(sync);
  sync.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  sync.streamId = 13;
  sync.cudaEventId = 3;
  sync.correlationId = 41;
  sync.start = sync.end = kStart + 610'000;
  maker.add(sync);
  CUpti_ActivityOverhead3 overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING;
  overhead.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  overhead.start = kStart + 2'000;
  overhead.end = kStart + 9'000;
  maker.add(overhead);
  CUpti_ActivityUnifiedMemoryCounter3 unified{};
  unified.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;
  unified.counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
  unified.value = 65'536;
  unified.start = kStart + 700'000;
  unified.end = kStart + 705'000;
  unified.address = 0x7e0000000000;
  unified.srcId = kNone;
  unified.dstId = 0;
  unified.streamId = kNone;
  unified.processId = kPid;
  maker.add(unified);
  unified.counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT;
  unified.value = 0x401234;
  unified.start = kStart + 720'000;
  unified.end = 77;  // of no meaning
  maker.add(unified);
  CUpti_ActivityExternalCorrelation external{};
  external.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  maker.add(external);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Maker maker;
  maker.recording.api = 130001;
  maker.name(2, 17, "cudaGetDevice_v3020");
  maker.name(2, 20, "cudaMalloc_v3020");
  maker.name(2, 31, "cudaMemcpy_v3020");
  maker.name(2, 165, "cudaDeviceSynchronize_v3020");
  maker.name(2, 211, "cudaLaunchKernel_v7000");
  maker.name(2, 311, "cudaGraphLaunch_v10000");
  maker.name(1, 243, "cuMemAlloc_v2");
  maker.name(1, 307, "cuLaunchKernel");
  maker.name(1, 700, "cuKernelGetName");
  maker.start_buffer(1);
  facts(maker);
  memory_calls(maker);
  copies(maker);
  maker.start_buffer(2);
  kernels(maker);
  graphs(maker);
  the_rest(maker);
  return standin::save(maker.recording, argv[1]) ? 0 : 1;
}
