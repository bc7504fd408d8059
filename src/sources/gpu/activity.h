// SPDX-License-Identifier: MIT
// Purpose: what a GPU did, in one value for all categories and vendors. Made by a backend from a raw record, read by
//          ActivityWriter at once.
// Invariant: texts point into the vendor's record or library and live only during the call that hands the value over.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dft::gpu {

enum class ActivityKind : std::uint8_t {
  kRuntimeApi,
  kDriverApi,
  kKernel,
  kMemcpy,
  kMemcpyP2p,
  kMemset,
  kMemory,
  kSync,
  kGraph,
  kMarker,
  kUnifiedMemory,
  kOverhead,
};
inline constexpr unsigned kActivityKinds = 12;

inline constexpr std::uint32_t kNoId = 0xffffffff;  // "not known" or "not applicable": left out of args

struct ApiDetail {
  std::uint32_t pid;
  std::uint32_t tid;  // of the kernel
  std::uint32_t return_value;
  const char* error;  // its name; null: the call succeeded
};
// What launches of one kernel mostly have in common stands together (Activity::kLaunchWords).
struct KernelDetail {
  std::int32_t grid[3];
  std::int32_t block[3];
  std::int32_t static_shared_memory;
  std::int32_t dynamic_shared_memory;
  std::uint32_t local_memory_per_thread;
  std::uint32_t registers_per_thread;
  std::uint32_t cluster[3];  // all zero: none
  const char* symbol;        // mangled; may be null
  std::int64_t grid_id;
};
// Copies and memsets.
struct CopyDetail {
  std::uint64_t bytes;
  std::uint32_t copy_kind;
  std::uint32_t src_kind;
  std::uint32_t dst_kind;
  std::uint32_t src_device, src_context;  // peer copies only
  std::uint32_t dst_device, dst_context;
  std::uint32_t value;  // memset only
  bool is_async;
};
struct MemoryDetail {
  std::uint64_t bytes;
  std::uint64_t address;
  std::uint64_t pool_address;  // 0: none
  std::uint64_t pool_size;
  std::uint32_t memory_kind;
  std::uint32_t pid;
  const char* source;  // library that allocated; may be null
  bool is_async;
  bool is_pool;  // an operation on a pool itself
};
struct SyncDetail {
  std::uint32_t event;  // kNoId: none
  std::uint32_t return_value;
};
struct UnifiedMemoryDetail {
  std::uint64_t value;
  std::uint64_t address;
  std::uint32_t counter_kind;
  std::uint32_t src, dst;  // devices
  std::uint32_t pid;
};
struct OverheadDetail {
  std::uint32_t overhead_kind;
  std::uint32_t object_kind;
};

struct Activity {
  ActivityKind kind = ActivityKind::kKernel;
  // Which operation of its kind, an index below kOperations by which the backend names it (Backend::operation_name).
  std::uint16_t operation = 0;
  std::uint32_t correlation = kNoId;
  std::uint64_t begin = 0;  // nanoseconds of the vendor's clock; 0: not known
  std::uint64_t end = 0;
  std::uint64_t graph_node = 0;  // 0: not part of a graph
  std::uint32_t graph = kNoId;   // with graph_node, or for graph launches
  std::uint32_t device = kNoId;
  std::uint32_t context = kNoId;
  std::uint32_t stream = kNoId;
  union {
    ApiDetail api;
    KernelDetail kernel;
    CopyDetail copy;
    MemoryDetail memory;
    SyncDetail sync;
    UnifiedMemoryDetail unified;
    OverheadDetail overhead;
  };

  Activity() {}  // the detail is the decoder's to fill: zeroing it is a tenth of decoding a record

  // Of a kernel: device, context, stream, grid, block, shared and local memory, as they stand in it.
  static constexpr unsigned kLaunchWords = 12;
  char* launch_words() { return reinterpret_cast<char*>(&device); }
  const char* launch_words() const { return reinterpret_cast<const char*>(&device); }
};
static_assert(offsetof(Activity, kernel.local_memory_per_thread) - offsetof(Activity, device) ==
              sizeof(std::uint32_t) * (Activity::kLaunchWords - 1));
inline constexpr unsigned kOperations = 2048;

// A device, context or stream, as far as the vendor tells. Zero and null: not known.
struct DeviceFacts {
  std::uint32_t id = kNoId;
  const char* name = nullptr;
  unsigned char uuid[16] = {};
  bool has_mig = false;
  unsigned char mig_uuid[16] = {};
  std::uint32_t gpu_instance = kNoId;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_bandwidth_kbs = 0;
  std::uint32_t core_clock_khz = 0;
  std::uint32_t multiprocessors = 0;
  std::uint32_t capability_major = 0;
  std::uint32_t capability_minor = 0;
  char pci_address[24] = {};  // empty: not known
};
struct ContextFacts {
  std::uint32_t id = kNoId;
  std::uint32_t device = kNoId;
  std::uint32_t null_stream = kNoId;
};
struct StreamFacts {
  std::uint32_t id = kNoId;
  std::uint32_t context = kNoId;
  std::uint32_t priority = 0;
  std::uint32_t flags = 0;
};
// A graph that can be launched.
struct GraphFacts {
  std::uint32_t id = kNoId;
  std::uint32_t nodes = 0;
};

// Why GPU records are missing. Their names stand in `loss` records.
enum class LossCause : std::uint8_t {
  kDropped,      // the vendor's library dropped them, or had no buffer
  kUndecodable,  // of a kind or size that this version does not know
  kUnavailable,  // the GPU part could not start, or gave way to another profiler
  kQuiet,        // API calls switched off
  kLate,         // came after the end of recording
};
inline constexpr unsigned kLossCauses = 5;

struct NamedActivity;  // named_activity.h
class ActivityWriter;  // activity_writer.h

// Takes what a backend decodes. Called on the decoding thread only.
class ActivitySink {
 public:
  virtual void activity(const Activity& activity) = 0;
  virtual void named(const NamedActivity&) {}
  virtual void device(const DeviceFacts& facts) = 0;
  virtual void context(const ContextFacts& facts) = 0;
  virtual void stream(const StreamFacts& facts) = 0;
  virtual void graph(const GraphFacts& facts) = 0;
  // `detail` says which kind and size, or is null. `count` 0: nobody can know.
  virtual void loss(LossCause cause, std::uint64_t count, std::uint64_t bytes, const char* detail) = 0;
  // The writer that this is, if it is one: it takes what it knows already without an Activity.
  virtual ActivityWriter* writer() { return nullptr; }

 protected:
  ~ActivitySink() = default;
};

}  // namespace dft::gpu
