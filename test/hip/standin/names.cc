// SPDX-License-Identifier: MIT
// Names and numbers of kinds and operations. HIP and HSA calls are a choice of the real ones, numbered otherwise in
// each generation: a tool that does not ask for names is wrong in one of them.
#include <algorithm>

#include "state.h"

namespace standin {

namespace {

const char* const kHip[] = {"hipGetDevice",
                            "hipSetDevice",
                            "hipGetDeviceCount",
                            "hipGetLastError",
                            "hipPeekAtLastError",
                            "hipMalloc",
                            "hipFree",
                            "hipMemcpy",
                            "hipMemcpyAsync",
                            "hipMemset",
                            "hipStreamCreate",
                            "hipStreamCreateWithFlags",
                            "hipStreamDestroy",
                            "hipStreamSynchronize",
                            "hipDeviceSynchronize",
                            "hipEventRecord",
                            "hipEventSynchronize",
                            "hipModuleLoadData",
                            "hipModuleUnload",
                            "hipModuleGetFunction",
                            "hipModuleLaunchKernel",
                            "hipLaunchKernel",
                            "hipGraphLaunch",
                            "hipDeviceGetAttribute",
                            "hipGetDevicePropertiesR0600",
                            "hipCtxSetCurrent",
                            "hipRuntimeGetVersion",
                            "hipInit"};
const char* const kHipCompiler[] = {"__hipPopCallConfiguration", "__hipPushCallConfiguration", "__hipRegisterFatBinary",
                                    "__hipRegisterFunction", "__hipUnregisterFatBinary"};
const char* const kHsaCore[] = {"hsa_init",
                                "hsa_shut_down",
                                "hsa_queue_create",
                                "hsa_queue_destroy",
                                "hsa_signal_store_screlease",
                                "hsa_signal_wait_scacquire",
                                "hsa_queue_load_read_index_relaxed",
                                "hsa_executable_freeze",
                                "hsa_agent_get_info"};
const char* const kHsaAmd[] = {"hsa_amd_memory_pool_allocate", "hsa_amd_memory_pool_free", "hsa_amd_memory_async_copy",
                               "hsa_amd_agent_memory_pool_get_info"};
const char* const kRccl[] = {"ncclAllReduce", "ncclBroadcast", "ncclCommInitRank"};
const char* const kMarker[] = {"roctxMarkA",       "roctxRangePushA", "roctxRangePop",
                               "roctxRangeStartA", "roctxRangeStop",  "roctxGetThreadId"};
const char* const kMarkerRange[] = {"roctxMarkA", "roctxThreadRangeA", "roctxProcessRangeA", "roctxGetThreadId"};
const char* const kMarkerControl[] = {"roctxProfilerPause", "roctxProfilerResume"};
const char* const kDispatch[] = {"KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_ENQUEUE", "KERNEL_DISPATCH_COMPLETE"};
const char* const kCopy[] = {"MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE",
                             "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE"};
const char* const kScratch[] = {"SCRATCH_MEMORY_NONE", "SCRATCH_MEMORY_ALLOC", "SCRATCH_MEMORY_FREE",
                                "SCRATCH_MEMORY_ASYNC_RECLAIM"};
const char* const kAllocation[] = {"MEMORY_ALLOCATION_NONE", "MEMORY_ALLOCATION_ALLOCATE",
                                   "MEMORY_ALLOCATION_VMEM_ALLOCATE", "MEMORY_ALLOCATION_FREE",
                                   "MEMORY_ALLOCATION_VMEM_FREE"};
const char* const kMigration05[] = {"PAGE_MIGRATION_NONE", "PAGE_MIGRATION_PAGE_MIGRATE", "PAGE_MIGRATION_PAGE_FAULT",
                                    "PAGE_MIGRATION_QUEUE_SUSPEND", "PAGE_MIGRATION_UNMAP_FROM_GPU"};
const char* const kMigration06[] = {"PAGE_MIGRATION_NONE",
                                    "PAGE_MIGRATION_PAGE_MIGRATE_START",
                                    "PAGE_MIGRATION_PAGE_MIGRATE_END",
                                    "PAGE_MIGRATION_PAGE_FAULT_START",
                                    "PAGE_MIGRATION_PAGE_FAULT_END",
                                    "PAGE_MIGRATION_QUEUE_EVICTION",
                                    "PAGE_MIGRATION_QUEUE_RESTORE",
                                    "PAGE_MIGRATION_UNMAP_FROM_GPU",
                                    "PAGE_MIGRATION_DROPPED_EVENT"};
#define KFD "ROCPROFILER_KFD_EVENT_"
const char* const kKfdMigrate[] = {KFD "PAGE_MIGRATE_PREFETCH", KFD "PAGE_MIGRATE_PAGEFAULT_GPU",
                                   KFD "PAGE_MIGRATE_PAGEFAULT_CPU", KFD "PAGE_MIGRATE_TTM_EVICTION",
                                   KFD "PAGE_MIGRATE_END"};
const char* const kKfdFault[] = {KFD "PAGE_FAULT_START", KFD "PAGE_FAULT_START_READ_FAULT",
                                 KFD "PAGE_FAULT_START_WRITE_FAULT", KFD "PAGE_FAULT_END_PAGE_MIGRATED",
                                 KFD "PAGE_FAULT_END_PAGE_UPDATED"};
const char* const kKfdQueue[] = {KFD "QUEUE_EVICT_SVM",
                                 KFD "QUEUE_EVICT_USERPTR",
                                 KFD "QUEUE_EVICT_TTM",
                                 KFD "QUEUE_EVICT_SUSPEND",
                                 KFD "QUEUE_EVICT_CRIU_CHECKPOINT",
                                 KFD "QUEUE_EVICT_CRIU_RESTORE",
                                 KFD "QUEUE_RESTORE_RESCHEDULED",
                                 KFD "QUEUE_RESTORE"};
const char* const kKfdUnmap[] = {KFD "UNMAP_FROM_GPU_MMU_NOTIFY", KFD "UNMAP_FROM_GPU_MMU_NOTIFY_MIGRATE",
                                 KFD "UNMAP_FROM_GPU_UNMAP_FROM_CPU"};
const char* const kKfdDropped[] = {KFD "DROPPED_EVENTS"};
const char* const kStream[] = {"HIP_STREAM_NONE", "HIP_STREAM_CREATE", "HIP_STREAM_DESTROY", "HIP_STREAM_SET"};
const char* const kCode[] = {"CODE_OBJECT_NONE", "CODE_OBJECT_LOAD", "CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER",
                             "CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER"};

struct Operations {
  const char* kind;
  const char* const* names;
  int count;
  bool turned;  // numbered otherwise in 1.x
};
#define ROW(kind, names, turned) \
  { kind, names, static_cast<int>(sizeof names / sizeof *names), turned }
const Operations kOperations[] = {ROW("HIP_RUNTIME_API", kHip, true),
                                  ROW("HIP_RUNTIME_API_EXT", kHip, true),
                                  ROW("HIP_COMPILER_API", kHipCompiler, false),
                                  ROW("HIP_COMPILER_API_EXT", kHipCompiler, false),
                                  ROW("HSA_CORE_API", kHsaCore, true),
                                  ROW("HSA_AMD_EXT_API", kHsaAmd, true),
                                  ROW("RCCL_API", kRccl, true),
                                  ROW("MARKER_CORE_API", kMarker, false),
                                  ROW("MARKER_CORE_RANGE_API", kMarkerRange, false),
                                  ROW("MARKER_CONTROL_API", kMarkerControl, false),
                                  ROW("KERNEL_DISPATCH", kDispatch, false),
                                  ROW("MEMORY_COPY", kCopy, false),
                                  ROW("SCRATCH_MEMORY", kScratch, false),
                                  ROW("MEMORY_ALLOCATION", kAllocation, false),
                                  ROW("KFD_EVENT_PAGE_MIGRATE", kKfdMigrate, false),
                                  ROW("KFD_EVENT_PAGE_FAULT", kKfdFault, false),
                                  ROW("KFD_EVENT_QUEUE", kKfdQueue, false),
                                  ROW("KFD_EVENT_UNMAP_FROM_GPU", kKfdUnmap, false),
                                  ROW("KFD_EVENT_DROPPED_EVENTS", kKfdDropped, false),
                                  ROW("HIP_STREAM", kStream, false),
                                  ROW("CODE_OBJECT", kCode, false)};
const Operations kMigrations[] = {ROW("PAGE_MIGRATION", kMigration05, false),
                                  ROW("PAGE_MIGRATION", kMigration06, false)};

const Operations* operations_of(const char* kind, Release release) {
  if (std::strcmp(kind, "PAGE_MIGRATION") == 0) return &kMigrations[release == Release::k05 ? 0 : 1];
  for (const Operations& row : kOperations) {
    if (std::strcmp(row.kind, kind) == 0) return &row;
  }
  return nullptr;
}

int turn(const Operations& row, Release release) { return row.turned && release == Release::k10 ? 3 : 0; }

}  // namespace

const char* operation_name(const char* kind, std::int32_t operation, Release release) {
  const Operations* row = operations_of(kind, release);
  if (row == nullptr || operation < 0 || operation >= row->count) return nullptr;
  return row->names[(operation + turn(*row, release)) % row->count];
}

std::int32_t operation_number(const char* kind, const char* operation, Release release) {
  const Operations* row = operations_of(kind, release);
  for (int i = 0; row != nullptr && i < row->count; ++i) {
    if (std::strcmp(row->names[(i + turn(*row, release)) % row->count], operation) == 0) return i;
  }
  return kNone;
}

template <std::size_t N>
static const char* name_in(const KindNumber (&rows)[N], std::uint32_t number, Release release) {
  if (number == 0) return "NONE";
  for (const KindNumber& row : rows) {
    if (row.number[static_cast<int>(release)] == static_cast<int>(number)) return row.name;
  }
  return nullptr;
}
template <std::size_t N>
static int number_in(const KindNumber (&rows)[N], const char* kind, Release release) {
  for (const KindNumber& row : rows) {
    if (std::strcmp(row.name, kind) == 0) return row.number[static_cast<int>(release)];
  }
  return kNone;
}

const char* kind_name(std::uint32_t number, Release release, bool callback) {
  return callback ? name_in(kCallbackKinds, number, release) : name_in(kKinds, number, release);
}
int number_of(const char* kind, Release release, bool callback) {
  return callback ? number_in(kCallbackKinds, kind, release) : number_in(kKinds, kind, release);
}

}  // namespace standin
