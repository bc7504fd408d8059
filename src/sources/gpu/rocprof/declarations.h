// SPDX-License-Identifier: MIT
// Purpose: the binary interface of rocprofiler-sdk as far as it is used here, for the releases 0.4 to 1.x: no header of
//          AMD's is needed to build. layout_proofs.cc holds all of this against the headers that a build is given.
// Numbers of kinds and operations are not here: they differ between releases, and the library is asked by name.
// Generations, told apart by release and kind names, then cross-checked with each record's size (decode.h):
//   0.4, 0.5   correlation ids of two words, page migration with begin and end
//   0.6        the same size and numbers, but scratch memory and page migration are laid out otherwise
//   1.x        correlation ids of synchronous records have a third word, the ancestor
#pragma once

#include <cstddef>
#include <cstdint>

namespace dft::gpu::rocprof {

enum class Generation : std::uint8_t { k05, k06, k1 };

// What all releases pass as a struct of one 64-bit handle: contexts, buffers, agents, queues, streams, threads.
struct Id {
  std::uint64_t handle;
};
using Status = std::int32_t;  // 0: done; the other numbers differ between releases (get_status_name)
inline constexpr Status kDone = 0;

// -- registration: what rocprofiler_configure gets and returns --
inline constexpr std::uint32_t release_number(std::uint32_t major, std::uint32_t minor, std::uint32_t patch) {
  return major * 10000 + minor * 100 + patch;
}
inline constexpr std::uint32_t kFirstWithClientSize = release_number(0, 7, 0);
inline constexpr std::uint32_t kFirstWithLateStart = release_number(1, 3, 0);
struct ClientId0 {  // before 0.7
  const char* name;
  std::uint32_t handle;
};
struct ClientId1 {
  std::size_t size;
  const char* name;
  std::uint32_t handle;
};
struct ConfigureResult {
  std::size_t size;
  // `end_this_client` is not called: the library's own end is waited for.
  int (*initialize)(void (*end_this_client)(), void* data);  // 0: done
  void (*finalize)(void* data);
  void* data;
};
using Configure = ConfigureResult* (*)(std::uint32_t release, const char* release_text, std::uint32_t priority,
                                       void* client_id);

// -- numbers that all releases share --
inline constexpr std::uint32_t kTracingCategory = 1;                         // of a record's header
inline constexpr int kLossless = 2;                                          // buffer policy
inline constexpr int kEnter = 1, kExit = 2;                                  // phases; load and unload of code objects
inline constexpr int kKernelSymbol = 2;                                      // operation of CODE_OBJECT
inline constexpr int kStreamCreate = 1, kStreamDestroy = 2, kStreamSet = 3;  // of HIP_STREAM
inline constexpr int kAgentVersion = 1;
inline constexpr int kGpuAgent = 2;  // type
// Kinds of requests for external correlation ids.
inline constexpr int kRequestHsaCore = 1, kRequestHsaLast = 4, kRequestHip = 5, kRequestCopy = 10, kRequestKernel = 11;
inline constexpr int kRequestAllocation = 15;  // from 0.6 on

// -- buffers --
struct RecordHeader {
  std::uint32_t category;
  std::uint32_t kind;
  void* payload;  // begins with RecordHead
};
struct RecordHead {
  std::uint64_t size;
  std::uint32_t kind;
  std::int32_t operation;
};
struct Correlation2 {
  std::uint64_t internal;
  std::uint64_t external;
};
struct Correlation3 {  // of synchronous records from 1.0 on
  std::uint64_t internal;
  std::uint64_t external;
  std::uint64_t ancestor;
};

// HIP, HSA, RCCL, marker, rocDecode, rocJPEG calls. The _EXT kinds go on with arguments and end with ApiResult.
template <typename Correlation>
struct ApiRecord {
  RecordHead head;
  Correlation correlation;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t thread;
};
union ApiResult {
  std::uint64_t word;
  std::int32_t error;
  std::int32_t channel_format[5];
};
struct DispatchInfo {
  std::uint64_t size;
  Id agent;
  Id queue;
  std::uint64_t kernel;
  std::uint64_t dispatch;
  std::uint32_t private_segment_size;
  std::uint32_t group_segment_size;
  std::uint32_t workgroup[3];
  std::uint32_t grid[3];
};
struct KernelRecord {
  RecordHead head;
  Correlation2 correlation;
  std::uint64_t thread;
  std::uint64_t start;
  std::uint64_t end;
  DispatchInfo info;  // reserved bytes follow
};
struct CopyRecord {
  RecordHead head;
  Correlation2 correlation;
  std::uint64_t thread;
  std::uint64_t start;
  std::uint64_t end;
  Id dst_agent;
  Id src_agent;
  std::uint64_t bytes;
  std::uint64_t dst_address;  // from 1.0 on
  std::uint64_t src_address;
};
inline constexpr std::size_t kCopyRecordBefore1 = offsetof(CopyRecord, dst_address);
template <typename Correlation>
struct AllocationRecord {  // from 0.6 on
  RecordHead head;
  Correlation correlation;
  std::uint64_t thread;
  std::uint64_t start;
  std::uint64_t end;
  Id agent;
  std::uint64_t address;
  std::uint64_t bytes;
};
struct ScratchRecord05 {
  RecordHead head;
  Id agent;
  Id queue;
  std::uint64_t thread;
  std::uint64_t start;
  std::uint64_t end;
  Correlation2 correlation;
  std::uint32_t flags;
};
struct ScratchRecord06 {
  RecordHead head;
  Correlation2 correlation;
  Id agent;
  Id queue;
  std::uint64_t thread;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t flags;
};
struct ScratchRecord1 {
  RecordHead head;
  Correlation3 correlation;
  Id agent;
  Id queue;
  std::uint64_t thread;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t flags;
  std::uint64_t bytes;  // not in the first 1.0.0
};
inline constexpr std::size_t kScratchRecord1Least = offsetof(ScratchRecord1, bytes);
template <typename Correlation>
struct OmptRecord {  // from 0.6 on; by operation the words mean a target, a data operation or a kernel
  RecordHead head;
  Correlation correlation;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t thread;
  std::uint64_t words[5];
};
template <typename Correlation>
struct RuntimeRecord {  // RUNTIME_INITIALIZATION, from 0.6 on
  RecordHead head;
  Correlation correlation;
  std::uint64_t thread;
  std::uint64_t timestamp;
  std::uint64_t version;
  std::uint64_t instance;
};

// PAGE_MIGRATION of 0.4 and 0.5: nodes are numbers of the driver's.
struct PageFault05 {
  std::uint8_t flags;  // bit 0: a read, bit 1: migrated
  std::uint32_t node;
  std::uint64_t address;
};
struct PageMigrate05 {
  std::uint64_t start_address;
  std::uint64_t end_address;
  std::uint32_t from_node;
  std::uint32_t to_node;
  std::uint32_t prefetch_node;
  std::uint32_t preferred_node;
  std::int32_t trigger;
};
struct QueueSuspend05 {
  std::uint8_t flags;  // bit 0: rescheduled
  std::uint32_t node;
  std::int32_t trigger;
};
struct Unmap05 {
  std::uint32_t node;
  std::uint64_t start_address;
  std::uint64_t end_address;
  std::int32_t trigger;
};
struct PageMigrationRecord05 {
  RecordHead head;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t pid;
  union {
    PageFault05 fault;
    PageMigrate05 migrate;
    QueueSuspend05 suspend;
    Unmap05 unmap;
    std::uint64_t words[12];
  };
};
// Of 0.6.
struct MigrateStart06 {
  std::uint64_t start_address;
  std::uint64_t end_address;
  Id from_agent;
  Id to_agent;
  Id prefetch_agent;
  Id preferred_agent;
  std::int32_t trigger;
};
struct MigrateEnd06 {
  std::uint64_t start_address;
  std::uint64_t end_address;
  Id from_agent;
  Id to_agent;
  std::int32_t trigger;
  std::int32_t error;
};
struct Fault06 {
  std::uint32_t flag;  // bit 0: a read (start), migrated (end)
  Id agent;
  std::uint64_t address;
};
struct Eviction06 {
  Id agent;
  std::int32_t trigger;
};
struct Restore06 {
  std::uint32_t flag;  // bit 0: rescheduled
  Id agent;
};
struct Unmap06 {
  std::uint64_t start_address;
  std::uint64_t end_address;
  Id agent;
  std::int32_t trigger;
};
struct PageMigrationRecord06 {
  RecordHead head;
  std::uint64_t timestamp;
  std::uint32_t pid;
  union {
    MigrateStart06 migrate_start;
    MigrateEnd06 migrate_end;
    Fault06 fault;
    Eviction06 eviction;
    Restore06 restore;
    Unmap06 unmap;
    std::uint32_t dropped;
    std::uint64_t words[16];
  };
};
// KFD_EVENT_*: one time each.
struct KfdMigrateEvent {
  RecordHead head;
  std::uint64_t timestamp;
  std::uint32_t pid;
  std::uint64_t start_address;
  std::uint64_t end_address;
  Id src_agent;
  Id dst_agent;
  Id prefetch_agent;
  Id preferred_agent;
  std::int32_t error;
};
struct KfdFaultEvent {
  RecordHead head;
  std::uint64_t timestamp;
  std::uint32_t pid;
  Id agent;
  std::uint64_t address;
};
struct KfdQueueEvent {
  RecordHead head;
  std::uint64_t timestamp;
  std::uint32_t pid;
  Id agent;
};
struct KfdUnmapEvent {
  RecordHead head;
  std::uint64_t timestamp;
  std::uint32_t pid;
  Id agent;
  std::uint64_t start_address;
  std::uint64_t end_address;
};
struct KfdDroppedEvent {
  RecordHead head;
  std::uint64_t timestamp;
  std::uint32_t pid;
  std::uint32_t count;
};
// KFD_*: the same in pairs.
struct KfdMigrate {
  RecordHead head;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t pid;
  std::uint64_t start_address;
  std::uint64_t end_address;
  Id src_agent;
  Id dst_agent;
  Id prefetch_agent;
  Id preferred_agent;
  std::int32_t error;
};
struct KfdFault {
  RecordHead head;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t pid;
  Id agent;
  std::uint64_t address;
};
struct KfdQueue {
  RecordHead head;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t pid;
  Id agent;
};

// -- callbacks: the record comes by value, so each layout has a function of its own --
template <typename Correlation>
struct CallbackRecord {
  Id context;
  std::uint64_t thread;
  Correlation correlation;
  std::int32_t kind;
  std::int32_t operation;
  std::int32_t phase;
  void* payload;
};
using CallbackRecord0 = CallbackRecord<Correlation2>;
using CallbackRecord1 = CallbackRecord<Correlation3>;  // from 0.7 on

struct KernelSymbolData {
  std::uint64_t size;
  std::uint64_t kernel;
  std::uint64_t code_object;
  const char* name;  // mangled, ends in ".kd"
  std::uint64_t object;
  std::uint32_t kernarg_segment_size;
  std::uint32_t kernarg_segment_alignment;
  std::uint32_t group_segment_size;
  std::uint32_t private_segment_size;
  std::uint32_t sgpr_count;
  std::uint32_t arch_vgpr_count;
  std::uint32_t accum_vgpr_count;
};
struct StreamData {
  std::uint64_t size;
  Id stream;
  std::uint64_t value;  // hipStream_t; from 1.0 on
};
inline constexpr std::size_t kStreamDataLeast = offsetof(StreamData, value);
struct MarkerData {
  std::uint64_t size;
  union {
    const char* message;     // roctxMarkA, roctxRangePushA, roctxRangeStartA
    std::uint64_t range_id;  // roctxRangeStop
    std::uint64_t words[2];
  };
  std::uint64_t result;  // roctxRangeStartA: the id
};

struct MemBank {
  std::uint32_t heap_type;  // 1 and 2: the GPU's own memory, visible to all and not
  std::uint32_t flags;
  std::uint32_t width;
  std::uint32_t clock;
  std::uint64_t bytes;
};
// An agent of version 0.
struct Agent {
  std::uint64_t size;
  Id id;
  std::int32_t type;
  std::uint32_t cpu_cores_count;
  std::uint32_t simd_count;
  std::uint32_t mem_banks_count;
  std::uint32_t caches_count;
  std::uint32_t io_links_count;
  std::uint32_t cpu_core_id_base;
  std::uint32_t simd_id_base;
  std::uint32_t max_waves_per_simd;
  std::uint32_t lds_size_in_kb;
  std::uint32_t gds_size_in_kb;
  std::uint32_t num_gws;
  std::uint32_t wave_front_size;
  std::uint32_t num_xcc;
  std::uint32_t cu_count;
  std::uint32_t array_count;
  std::uint32_t num_shader_banks;
  std::uint32_t simd_arrays_per_engine;
  std::uint32_t cu_per_simd_array;
  std::uint32_t simd_per_cu;
  std::uint32_t max_slots_scratch_cu;
  std::uint32_t gfx_target_version;
  std::uint16_t vendor_id;
  std::uint16_t device_id;
  std::uint32_t location_id;
  std::uint32_t domain;
  std::uint32_t drm_render_minor;
  std::uint32_t num_sdma_engines;
  std::uint32_t num_sdma_xgmi_engines;
  std::uint32_t num_sdma_queues_per_engine;
  std::uint32_t num_cp_queues;
  std::uint32_t max_engine_clk_ccompute;
  std::uint32_t max_engine_clk_fcompute;
  std::uint32_t sdma_fw_version;
  std::uint32_t fw_version;
  std::uint32_t capability;
  std::uint32_t cu_per_engine;
  std::uint32_t max_waves_per_cu;
  std::uint32_t family_id;
  std::uint32_t workgroup_max_size;
  std::uint32_t grid_max_size;
  std::uint64_t local_mem_size;
  std::uint64_t hive_id;
  std::uint64_t gpu_id;
  std::uint32_t workgroup_max_dim[3];
  std::uint32_t grid_max_dim[3];
  const MemBank* mem_banks;
  const void* caches;
  const void* io_links;
  const char* name;
  const char* vendor_name;
  const char* product_name;
  const char* model_name;
  std::uint32_t node_id;
  std::int32_t logical_node_id;
  std::int32_t logical_node_type_id;
  std::uint32_t runtime_visibility;  // from 0.6 on
  std::uint8_t uuid[16];             // its first half only in 0.6 and the first 1.0.0
};
inline constexpr std::size_t kAgentLeast = offsetof(Agent, runtime_visibility);
inline constexpr std::size_t kAgentHalfUuid = offsetof(Agent, uuid) + 8;

}  // namespace dft::gpu::rocprof
