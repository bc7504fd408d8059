// SPDX-License-Identifier: MIT
// Our declarations against the headers of a rocprofiler-sdk that the build was given: every field that is read, every
// function that is called, every number that is relied upon. Compiled only then (cmake/hip.cmake); headers that are not
// there (some packages bring only a part) prove nothing.
#include <cstddef>
#include <type_traits>
#include <utility>

#include "sources/gpu/rocprof/functions.h"

#if __has_include(<rocprofiler-sdk/version.h>)
#include <rocprofiler-sdk/version.h>
#endif
#if __has_include(<rocprofiler-sdk/fwd.h>)
#include <rocprofiler-sdk/fwd.h>
#define DFT_HAS_FWD
#endif
#if __has_include(<rocprofiler-sdk/agent.h>)
#include <rocprofiler-sdk/agent.h>
#define DFT_HAS_AGENT
#endif
#if __has_include(<rocprofiler-sdk/registration.h>)
#include <rocprofiler-sdk/registration.h>
#define DFT_HAS_REGISTRATION
#endif
#if __has_include(<rocprofiler-sdk/buffer.h>)
#include <rocprofiler-sdk/buffer.h>
#define DFT_HAS_BUFFER
#endif
#if __has_include(<rocprofiler-sdk/context.h>)
#include <rocprofiler-sdk/context.h>
#define DFT_HAS_CONTEXT
#endif
#if __has_include(<rocprofiler-sdk/internal_threading.h>)
#include <rocprofiler-sdk/internal_threading.h>
#define DFT_HAS_THREADING
#endif
#if __has_include(<rocprofiler-sdk/external_correlation.h>)
#include <rocprofiler-sdk/external_correlation.h>
#define DFT_HAS_EXTERNAL
#endif
#if __has_include(<rocprofiler-sdk/buffer_tracing.h>)
#include <rocprofiler-sdk/buffer_tracing.h>
#define DFT_HAS_BUFFERED
#endif
#if __has_include(<rocprofiler-sdk/callback_tracing.h>)
#include <rocprofiler-sdk/callback_tracing.h>
#define DFT_HAS_CALLBACKS
#endif
#if __has_include(<rocprofiler-sdk/rocprofiler.h>)
#include <rocprofiler-sdk/rocprofiler.h>
#define DFT_HAS_ALL
#endif

namespace dft::gpu::rocprof {

#ifdef ROCPROFILER_VERSION_MAJOR
#define DFT_RELEASE (ROCPROFILER_VERSION_MAJOR * 10000 + ROCPROFILER_VERSION_MINOR * 100)
#else
#define DFT_RELEASE 10000  // parts of packages come without; they are of 1.x
#endif
#if DFT_RELEASE >= 700
#define DFT_IS_1
#elif DFT_RELEASE >= 600
#define DFT_IS_06
#else
#define DFT_IS_05
#endif

#ifdef DFT_IS_1
using Correlation = Correlation3;
#else
using Correlation = Correlation2;
#endif

// A field of the same place and size.
#define DFT_SAME(ours, field, theirs, their_field)                                                      \
  static_assert(offsetof(ours, field) == offsetof(theirs, their_field) &&                               \
                    sizeof(std::declval<ours&>().field) == sizeof(std::declval<theirs&>().their_field), \
                #theirs "." #their_field)
// Of a sequence of records: the fields that all of them begin with.
#define DFT_HEAD(ours, theirs)             \
  DFT_SAME(ours, head.size, theirs, size); \
  DFT_SAME(ours, head.kind, theirs, kind); \
  DFT_SAME(ours, head.operation, theirs, operation)
#define DFT_SPAN(ours, theirs)                    \
  DFT_SAME(ours, start, theirs, start_timestamp); \
  DFT_SAME(ours, end, theirs, end_timestamp)

#ifdef DFT_HAS_FWD
DFT_SAME(RecordHeader, category, rocprofiler_record_header_t, category);
DFT_SAME(RecordHeader, kind, rocprofiler_record_header_t, kind);
DFT_SAME(RecordHeader, payload, rocprofiler_record_header_t, payload);
static_assert(sizeof(RecordHeader) == sizeof(rocprofiler_record_header_t));
static_assert(sizeof(Correlation) == sizeof(rocprofiler_correlation_id_t));
DFT_SAME(Correlation, internal, rocprofiler_correlation_id_t, internal);
DFT_SAME(Correlation, external, rocprofiler_correlation_id_t, external);
#ifdef DFT_IS_1
DFT_SAME(Correlation, ancestor, rocprofiler_correlation_id_t, ancestor);
static_assert(sizeof(Correlation2) == sizeof(rocprofiler_async_correlation_id_t));
#endif
using AnyCallbackRecord = CallbackRecord<Correlation>;
DFT_SAME(AnyCallbackRecord, thread, rocprofiler_callback_tracing_record_t, thread_id);
DFT_SAME(AnyCallbackRecord, correlation, rocprofiler_callback_tracing_record_t, correlation_id);
DFT_SAME(AnyCallbackRecord, kind, rocprofiler_callback_tracing_record_t, kind);
DFT_SAME(AnyCallbackRecord, operation, rocprofiler_callback_tracing_record_t, operation);
DFT_SAME(AnyCallbackRecord, phase, rocprofiler_callback_tracing_record_t, phase);
DFT_SAME(AnyCallbackRecord, payload, rocprofiler_callback_tracing_record_t, payload);
static_assert(sizeof(AnyCallbackRecord) == sizeof(rocprofiler_callback_tracing_record_t));
DFT_SAME(DispatchInfo, agent, rocprofiler_kernel_dispatch_info_t, agent_id);
DFT_SAME(DispatchInfo, queue, rocprofiler_kernel_dispatch_info_t, queue_id);
DFT_SAME(DispatchInfo, kernel, rocprofiler_kernel_dispatch_info_t, kernel_id);
DFT_SAME(DispatchInfo, dispatch, rocprofiler_kernel_dispatch_info_t, dispatch_id);
DFT_SAME(DispatchInfo, private_segment_size, rocprofiler_kernel_dispatch_info_t, private_segment_size);
DFT_SAME(DispatchInfo, group_segment_size, rocprofiler_kernel_dispatch_info_t, group_segment_size);
DFT_SAME(DispatchInfo, workgroup, rocprofiler_kernel_dispatch_info_t, workgroup_size);
DFT_SAME(DispatchInfo, grid, rocprofiler_kernel_dispatch_info_t, grid_size);
static_assert(ROCPROFILER_STATUS_SUCCESS == kDone && ROCPROFILER_BUFFER_POLICY_LOSSLESS == kLossless);
static_assert(ROCPROFILER_BUFFER_CATEGORY_TRACING == kTracingCategory && ROCPROFILER_AGENT_TYPE_GPU == kGpuAgent);
static_assert(ROCPROFILER_CALLBACK_PHASE_ENTER == kEnter && ROCPROFILER_CALLBACK_PHASE_EXIT == kExit);
static_assert(ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER == kKernelSymbol);
static_assert(ROCPROFILER_LIBRARY == 1);
#ifdef DFT_IS_1
static_assert(ROCPROFILER_HIP_STREAM_CREATE == kStreamCreate && ROCPROFILER_HIP_STREAM_SET == kStreamSet);
#endif
static_assert(sizeof(Id) == sizeof(rocprofiler_context_id_t) && sizeof(Id) == sizeof(rocprofiler_buffer_id_t) &&
              sizeof(Id) == sizeof(rocprofiler_agent_id_t) && sizeof(Id) == sizeof(rocprofiler_queue_id_t));
#endif

#ifdef DFT_HAS_AGENT
#define DFT_AGENT(field) DFT_SAME(Agent, field, rocprofiler_agent_v0_t, field)
DFT_AGENT(size);
DFT_AGENT(id);
DFT_AGENT(type);
DFT_AGENT(cpu_cores_count);
DFT_AGENT(simd_count);
DFT_AGENT(lds_size_in_kb);
DFT_AGENT(wave_front_size);
DFT_AGENT(num_xcc);
DFT_AGENT(cu_count);
DFT_AGENT(gfx_target_version);
DFT_AGENT(device_id);
DFT_AGENT(location_id);
DFT_AGENT(domain);
DFT_AGENT(max_engine_clk_fcompute);
DFT_AGENT(mem_banks_count);
DFT_AGENT(mem_banks);
DFT_AGENT(model_name);
DFT_SAME(MemBank, heap_type, rocprofiler_agent_mem_bank_t, heap_type);
DFT_SAME(MemBank, bytes, rocprofiler_agent_mem_bank_t, size_in_bytes);
static_assert(sizeof(MemBank) == sizeof(rocprofiler_agent_mem_bank_t));
DFT_AGENT(local_mem_size);
DFT_AGENT(gpu_id);
DFT_AGENT(name);
DFT_AGENT(vendor_name);
DFT_AGENT(product_name);
DFT_AGENT(node_id);
DFT_AGENT(logical_node_id);
DFT_AGENT(logical_node_type_id);
#ifndef DFT_IS_05
static_assert(offsetof(Agent, uuid) == offsetof(rocprofiler_agent_v0_t, uuid));
#endif
static_assert(sizeof(rocprofiler_agent_v0_t) >= kAgentLeast && ROCPROFILER_AGENT_INFO_VERSION_0 == kAgentVersion);
#endif

#ifdef DFT_HAS_REGISTRATION
#ifdef DFT_IS_1
using ClientId = ClientId1;
#else
using ClientId = ClientId0;
#endif
DFT_SAME(ClientId, name, rocprofiler_client_id_t, name);
static_assert(offsetof(ClientId, handle) == offsetof(rocprofiler_client_id_t, handle));
static_assert(sizeof(ClientId) == sizeof(rocprofiler_client_id_t));
DFT_SAME(ConfigureResult, initialize, rocprofiler_tool_configure_result_t, initialize);
DFT_SAME(ConfigureResult, finalize, rocprofiler_tool_configure_result_t, finalize);
DFT_SAME(ConfigureResult, data, rocprofiler_tool_configure_result_t, tool_data);
static_assert(sizeof(ConfigureResult) == sizeof(rocprofiler_tool_configure_result_t));
#endif

#ifdef DFT_HAS_BUFFERED
DFT_HEAD(KernelRecord, rocprofiler_buffer_tracing_kernel_dispatch_record_t);
DFT_SPAN(KernelRecord, rocprofiler_buffer_tracing_kernel_dispatch_record_t);
DFT_SAME(KernelRecord, correlation, rocprofiler_buffer_tracing_kernel_dispatch_record_t, correlation_id);
static_assert(offsetof(KernelRecord, info) ==
              offsetof(rocprofiler_buffer_tracing_kernel_dispatch_record_t, dispatch_info));
static_assert(sizeof(KernelRecord) <= sizeof(rocprofiler_buffer_tracing_kernel_dispatch_record_t));
#endif

// Some packages have of the records that of kernels only.
#ifdef DFT_HAS_ALL
using Api = ApiRecord<Correlation>;
#define DFT_API(theirs)                               \
  DFT_HEAD(Api, theirs);                              \
  DFT_SPAN(Api, theirs);                              \
  DFT_SAME(Api, correlation, theirs, correlation_id); \
  DFT_SAME(Api, thread, theirs, thread_id)
DFT_API(rocprofiler_buffer_tracing_hip_api_record_t);
DFT_API(rocprofiler_buffer_tracing_hsa_api_record_t);
DFT_API(rocprofiler_buffer_tracing_marker_api_record_t);
DFT_API(rocprofiler_buffer_tracing_rccl_api_record_t);
static_assert(sizeof(Api) == sizeof(rocprofiler_buffer_tracing_hip_api_record_t));
#if defined(DFT_IS_1) && DFT_RELEASE >= 10000
DFT_API(rocprofiler_buffer_tracing_rocdecode_api_record_t);
DFT_API(rocprofiler_buffer_tracing_rocjpeg_api_record_t);
DFT_API(rocprofiler_buffer_tracing_hip_api_ext_record_t);
static_assert(sizeof(ApiResult) == sizeof(rocprofiler_hip_api_retval_t));
static_assert(offsetof(rocprofiler_buffer_tracing_hip_api_ext_record_t, retval) + sizeof(ApiResult) ==
              sizeof(rocprofiler_buffer_tracing_hip_api_ext_record_t));
#endif
#define DFT_COPY(field, theirs) DFT_SAME(CopyRecord, field, rocprofiler_buffer_tracing_memory_copy_record_t, theirs)
DFT_HEAD(CopyRecord, rocprofiler_buffer_tracing_memory_copy_record_t);
DFT_SPAN(CopyRecord, rocprofiler_buffer_tracing_memory_copy_record_t);
DFT_COPY(correlation, correlation_id);
DFT_COPY(dst_agent, dst_agent_id);
DFT_COPY(src_agent, src_agent_id);
DFT_COPY(bytes, bytes);
#ifdef DFT_IS_1
DFT_COPY(dst_address, dst_address);
DFT_COPY(src_address, src_address);
static_assert(sizeof(CopyRecord) <= sizeof(rocprofiler_buffer_tracing_memory_copy_record_t));
#else
static_assert(kCopyRecordBefore1 == sizeof(rocprofiler_buffer_tracing_memory_copy_record_t));
#endif
#ifndef DFT_IS_05
using Allocation = AllocationRecord<Correlation>;
#define DFT_ALLOCATION(field, theirs) \
  DFT_SAME(Allocation, field, rocprofiler_buffer_tracing_memory_allocation_record_t, theirs)
DFT_HEAD(Allocation, rocprofiler_buffer_tracing_memory_allocation_record_t);
DFT_SPAN(Allocation, rocprofiler_buffer_tracing_memory_allocation_record_t);
DFT_ALLOCATION(correlation, correlation_id);
DFT_ALLOCATION(thread, thread_id);
DFT_ALLOCATION(agent, agent_id);
DFT_ALLOCATION(address, address);
DFT_ALLOCATION(bytes, allocation_size);
static_assert(sizeof(Allocation) == sizeof(rocprofiler_buffer_tracing_memory_allocation_record_t));
using Ompt = OmptRecord<Correlation>;
DFT_HEAD(Ompt, rocprofiler_buffer_tracing_ompt_record_t);
DFT_SPAN(Ompt, rocprofiler_buffer_tracing_ompt_record_t);
DFT_SAME(Ompt, thread, rocprofiler_buffer_tracing_ompt_record_t, thread_id);
static_assert(sizeof(Ompt) == sizeof(rocprofiler_buffer_tracing_ompt_record_t));
using Runtime = RuntimeRecord<Correlation>;
DFT_HEAD(Runtime, rocprofiler_buffer_tracing_runtime_initialization_record_t);
DFT_SAME(Runtime, thread, rocprofiler_buffer_tracing_runtime_initialization_record_t, thread_id);
DFT_SAME(Runtime, timestamp, rocprofiler_buffer_tracing_runtime_initialization_record_t, timestamp);
DFT_SAME(Runtime, version, rocprofiler_buffer_tracing_runtime_initialization_record_t, version);
DFT_SAME(Runtime, instance, rocprofiler_buffer_tracing_runtime_initialization_record_t, instance);
#endif
#if defined(DFT_IS_1)
using Scratch = ScratchRecord1;
static_assert(kScratchRecord1Least <= sizeof(rocprofiler_buffer_tracing_scratch_memory_record_t));
#elif defined(DFT_IS_06)
using Scratch = ScratchRecord06;
static_assert(sizeof(Scratch) == sizeof(rocprofiler_buffer_tracing_scratch_memory_record_t));
#else
using Scratch = ScratchRecord05;
static_assert(sizeof(Scratch) == sizeof(rocprofiler_buffer_tracing_scratch_memory_record_t));
#endif
#define DFT_SCRATCH(field, theirs) DFT_SAME(Scratch, field, rocprofiler_buffer_tracing_scratch_memory_record_t, theirs)
DFT_HEAD(Scratch, rocprofiler_buffer_tracing_scratch_memory_record_t);
DFT_SPAN(Scratch, rocprofiler_buffer_tracing_scratch_memory_record_t);
DFT_SCRATCH(correlation, correlation_id);
DFT_SCRATCH(agent, agent_id);
DFT_SCRATCH(queue, queue_id);
DFT_SCRATCH(flags, flags);

#if defined(DFT_IS_05)
#define DFT_PAGE(field, theirs) \
  DFT_SAME(PageMigrationRecord05, field, rocprofiler_buffer_tracing_page_migration_record_t, theirs)
DFT_HEAD(PageMigrationRecord05, rocprofiler_buffer_tracing_page_migration_record_t);
DFT_SPAN(PageMigrationRecord05, rocprofiler_buffer_tracing_page_migration_record_t);
DFT_PAGE(pid, pid);
DFT_PAGE(fault.node, page_fault.node_id);
DFT_PAGE(fault.address, page_fault.address);
DFT_PAGE(migrate.start_address, page_migrate.start_addr);
DFT_PAGE(migrate.to_node, page_migrate.to_node);
DFT_PAGE(migrate.preferred_node, page_migrate.preferred_node);
DFT_PAGE(migrate.trigger, page_migrate.trigger);
DFT_PAGE(suspend.node, queue_suspend.node_id);
DFT_PAGE(suspend.trigger, queue_suspend.trigger);
DFT_PAGE(unmap.node, unmap_from_gpu.node_id);
DFT_PAGE(unmap.end_address, unmap_from_gpu.end_addr);
DFT_PAGE(unmap.trigger, unmap_from_gpu.trigger);
static_assert(sizeof(PageMigrationRecord05) == sizeof(rocprofiler_buffer_tracing_page_migration_record_t));
static_assert(ROCPROFILER_PAGE_MIGRATION_PAGE_MIGRATE == 1 && ROCPROFILER_PAGE_MIGRATION_UNMAP_FROM_GPU == 4);
#elif defined(DFT_IS_06)
#define DFT_PAGE(field, theirs) \
  DFT_SAME(PageMigrationRecord06, field, rocprofiler_buffer_tracing_page_migration_record_t, theirs)
DFT_HEAD(PageMigrationRecord06, rocprofiler_buffer_tracing_page_migration_record_t);
DFT_PAGE(timestamp, timestamp);
DFT_PAGE(pid, pid);
DFT_PAGE(migrate_start.preferred_agent, args.page_migrate_start.preferred_agent);
DFT_PAGE(migrate_start.trigger, args.page_migrate_start.trigger);
DFT_PAGE(migrate_end.to_agent, args.page_migrate_end.to_agent);
DFT_PAGE(migrate_end.error, args.page_migrate_end.error_code);
DFT_PAGE(fault.agent, args.page_fault_start.agent_id);
DFT_PAGE(fault.address, args.page_fault_end.address);
DFT_PAGE(eviction.trigger, args.queue_eviction.trigger);
DFT_PAGE(restore.agent, args.queue_restore.agent_id);
DFT_PAGE(unmap.agent, args.unmap_from_gpu.agent_id);
DFT_PAGE(unmap.trigger, args.unmap_from_gpu.trigger);
DFT_PAGE(dropped, args.dropped_event.dropped_events_count);
static_assert(sizeof(PageMigrationRecord06) == sizeof(rocprofiler_buffer_tracing_page_migration_record_t));
static_assert(ROCPROFILER_PAGE_MIGRATION_PAGE_MIGRATE_START == 1 && ROCPROFILER_PAGE_MIGRATION_DROPPED_EVENT == 8);
#elif DFT_RELEASE >= 10000
#define DFT_KFD(ours, theirs, field, their_field) \
  DFT_SAME(ours, field, rocprofiler_buffer_tracing_kfd_##theirs##_record_t, their_field)
#define DFT_MIGRATION(ours, theirs)                                   \
  DFT_HEAD(ours, rocprofiler_buffer_tracing_kfd_##theirs##_record_t); \
  DFT_KFD(ours, theirs, pid, pid);                                    \
  DFT_KFD(ours, theirs, start_address, start_address);                \
  DFT_KFD(ours, theirs, end_address, end_address);                    \
  DFT_KFD(ours, theirs, src_agent, src_agent);                        \
  DFT_KFD(ours, theirs, preferred_agent, preferred_agent);            \
  DFT_KFD(ours, theirs, error, error_code)
DFT_MIGRATION(KfdMigrateEvent, event_page_migrate);
DFT_MIGRATION(KfdMigrate, page_migrate);
DFT_KFD(KfdMigrateEvent, event_page_migrate, timestamp, timestamp);
DFT_KFD(KfdMigrate, page_migrate, start, start_timestamp);
DFT_KFD(KfdFaultEvent, event_page_fault, timestamp, timestamp);
DFT_KFD(KfdFaultEvent, event_page_fault, agent, agent_id);
DFT_KFD(KfdFaultEvent, event_page_fault, address, address);
DFT_KFD(KfdFault, page_fault, end, end_timestamp);
DFT_KFD(KfdFault, page_fault, agent, agent_id);
DFT_KFD(KfdFault, page_fault, address, address);
DFT_KFD(KfdQueueEvent, event_queue, agent, agent_id);
DFT_KFD(KfdQueue, queue, agent, agent_id);
DFT_KFD(KfdUnmapEvent, event_unmap_from_gpu, agent, agent_id);
DFT_KFD(KfdUnmapEvent, event_unmap_from_gpu, end_address, end_address);
DFT_KFD(KfdDroppedEvent, event_dropped_events, pid, pid);
DFT_KFD(KfdDroppedEvent, event_dropped_events, count, count);
#endif
#endif  // DFT_HAS_ALL

#ifdef DFT_HAS_CALLBACKS
using TheirSymbol = rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t;
DFT_SAME(KernelSymbolData, kernel, TheirSymbol, kernel_id);
DFT_SAME(KernelSymbolData, name, TheirSymbol, kernel_name);
static_assert(sizeof(KernelSymbolData) <= sizeof(TheirSymbol));
DFT_SAME(MarkerData, message, rocprofiler_callback_tracing_marker_api_data_t, args.roctxMarkA.message);
DFT_SAME(MarkerData, range_id, rocprofiler_callback_tracing_marker_api_data_t, args.roctxRangeStop.id);
DFT_SAME(MarkerData, result, rocprofiler_callback_tracing_marker_api_data_t, retval.roctx_range_id_t_retval);
static_assert(sizeof(MarkerData) == sizeof(rocprofiler_callback_tracing_marker_api_data_t));
#if defined(DFT_HAS_ALL) && defined(DFT_IS_1)
DFT_SAME(StreamData, stream, rocprofiler_callback_tracing_hip_stream_data_t, stream_id);
static_assert(kStreamDataLeast <= sizeof(rocprofiler_callback_tracing_hip_stream_data_t));
#endif
#endif

#ifdef DFT_HAS_EXTERNAL
static_assert(ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_HSA_CORE_API == kRequestHsaCore &&
              ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_HSA_FINALIZE_EXT_API == kRequestHsaLast &&
              ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_HIP_RUNTIME_API == kRequestHip &&
              ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY == kRequestCopy &&
              ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH == kRequestKernel);
#ifndef DFT_IS_05
static_assert(ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_ALLOCATION == kRequestAllocation);
#endif
#endif

#ifdef DFT_HAS_ALL
#pragma GCC diagnostic ignored "-Wignored-attributes"
// The same number of parameters, each passed alike: same size, and in our case no larger than a register.
template <typename Ours, typename Theirs>
struct SameCall : std::false_type {};
template <typename R, typename... A, typename S, typename... B>
struct SameCall<R (*)(A...), S (*)(B...)> {
  static constexpr bool passed_alike() {
    if constexpr (sizeof...(A) != sizeof...(B)) {
      return false;
    } else {
      return sizeof(R) == sizeof(S) && ((sizeof(A) == sizeof(B) && sizeof(A) <= 8) && ...);
    }
  }
  static constexpr bool value = passed_alike();
};
#define DFT_CALL(member, symbol, needed, ...) \
  static_assert(SameCall<Signature_##symbol, decltype(&rocprofiler_##symbol)>::value, #symbol);
DFT_ROCPROF_FUNCTIONS(DFT_CALL)
#undef DFT_CALL
#endif

}  // namespace dft::gpu::rocprof
