// SPDX-License-Identifier: MIT
// Purpose: where the fields of rocprofiler-sdk's records lie and which numbers its kinds have, release by release, for
//          the stand-in that writes them. Written apart from the backend's own declarations, so that both cannot be
//          wrong together; layout_proof.cc holds it against the real headers.
#pragma once

#include <cstdint>

namespace standin {

inline constexpr int kNone = -1;  // the release does not have it

// RECORD(name, struct, size in 0.5, 0.6, 1.0) and FIELD(record, field, member, offset in 0.5, 0.6, 1.0).
// CORE: what the public subset of the headers has too. ALL: every release. The rest: from 0.6 on, or one release only.
// clang-format off
#define DFT_HIP_RECORDS_CORE(RECORD) \
  RECORD(client_id, rocprofiler_client_id_t, 16, 16, 24) \
  RECORD(header, rocprofiler_record_header_t, 16, 16, 16) \
  RECORD(callback, rocprofiler_callback_tracing_record_t, 56, 56, 64) \
  RECORD(symbol, rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t, 72, 88, 88) \
  RECORD(marker, rocprofiler_callback_tracing_marker_api_data_t, 32, 32, 32) \
  RECORD(dispatch, rocprofiler_buffer_tracing_kernel_dispatch_record_t, 184, 184, 184) \
  RECORD(agent, rocprofiler_agent_v0_t, 296, 304, 304) \
  RECORD(bank, rocprofiler_agent_mem_bank_t, 24, 24, 24)
#define DFT_HIP_FIELDS_CORE(FIELD) \
  FIELD(client_id, name, name, 0, 0, 8) \
  FIELD(client_id, handle, handle, 8, 8, 16) \
  FIELD(header, category, category, 0, 0, 0) \
  FIELD(header, kind, kind, 4, 4, 4) \
  FIELD(header, payload, payload, 8, 8, 8) \
  FIELD(callback, context_id, context_id, 0, 0, 0) \
  FIELD(callback, thread_id, thread_id, 8, 8, 8) \
  FIELD(callback, internal, correlation_id.internal, 16, 16, 16) \
  FIELD(callback, external, correlation_id.external, 24, 24, 24) \
  FIELD(callback, kind, kind, 32, 32, 40) \
  FIELD(callback, operation, operation, 36, 36, 44) \
  FIELD(callback, phase, phase, 40, 40, 48) \
  FIELD(callback, payload, payload, 48, 48, 56) \
  FIELD(symbol, size, size, 0, 0, 0) \
  FIELD(symbol, kernel_id, kernel_id, 8, 8, 8) \
  FIELD(symbol, code_object_id, code_object_id, 16, 16, 16) \
  FIELD(symbol, kernel_name, kernel_name, 24, 24, 24) \
  FIELD(symbol, group_segment_size, group_segment_size, 48, 48, 48) \
  FIELD(symbol, private_segment_size, private_segment_size, 52, 52, 52) \
  FIELD(symbol, sgpr_count, sgpr_count, 56, 56, 56) \
  FIELD(symbol, arch_vgpr_count, arch_vgpr_count, 60, 60, 60) \
  FIELD(symbol, accum_vgpr_count, accum_vgpr_count, 64, 64, 64) \
  FIELD(marker, size, size, 0, 0, 0) \
  FIELD(marker, message, args.roctxMarkA.message, 8, 8, 8) \
  FIELD(marker, stop_id, args.roctxRangeStop.id, 8, 8, 8) \
  FIELD(marker, start_id, retval.roctx_range_id_t_retval, 24, 24, 24) \
  FIELD(dispatch, size, size, 0, 0, 0) \
  FIELD(dispatch, kind, kind, 8, 8, 8) \
  FIELD(dispatch, operation, operation, 12, 12, 12) \
  FIELD(dispatch, internal, correlation_id.internal, 16, 16, 16) \
  FIELD(dispatch, external, correlation_id.external, 24, 24, 24) \
  FIELD(dispatch, thread, thread_id, 32, 32, 32) \
  FIELD(dispatch, start, start_timestamp, 40, 40, 40) \
  FIELD(dispatch, end, end_timestamp, 48, 48, 48) \
  FIELD(dispatch, info_size, dispatch_info.size, 56, 56, 56) \
  FIELD(dispatch, agent, dispatch_info.agent_id, 64, 64, 64) \
  FIELD(dispatch, queue, dispatch_info.queue_id, 72, 72, 72) \
  FIELD(dispatch, kernel, dispatch_info.kernel_id, 80, 80, 80) \
  FIELD(dispatch, dispatch, dispatch_info.dispatch_id, 88, 88, 88) \
  FIELD(dispatch, private_segment, dispatch_info.private_segment_size, 96, 96, 96) \
  FIELD(dispatch, group_segment, dispatch_info.group_segment_size, 100, 100, 100) \
  FIELD(dispatch, workgroup, dispatch_info.workgroup_size, 104, 104, 104) \
  FIELD(dispatch, grid, dispatch_info.grid_size, 116, 116, 116) \
  FIELD(agent, size, size, 0, 0, 0) \
  FIELD(agent, id, id, 8, 8, 8) \
  FIELD(agent, type, type, 16, 16, 16) \
  FIELD(agent, simd_count, simd_count, 24, 24, 24) \
  FIELD(agent, wave_front_size, wave_front_size, 64, 64, 64) \
  FIELD(agent, cu_count, cu_count, 72, 72, 72) \
  FIELD(agent, gfx_target_version, gfx_target_version, 100, 100, 100) \
  FIELD(agent, location_id, location_id, 108, 108, 108) \
  FIELD(agent, domain, domain, 112, 112, 112) \
  FIELD(agent, clock_mhz, max_engine_clk_fcompute, 140, 140, 140) \
  FIELD(agent, mem_banks_count, mem_banks_count, 28, 28, 28) \
  FIELD(agent, local_mem_size, local_mem_size, 176, 176, 176) \
  FIELD(agent, lds_size_in_kb, lds_size_in_kb, 52, 52, 52) \
  FIELD(agent, gpu_id, gpu_id, 192, 192, 192) \
  FIELD(agent, mem_banks, mem_banks, 224, 224, 224) \
  FIELD(agent, name, name, 248, 248, 248) \
  FIELD(agent, vendor_name, vendor_name, 256, 256, 256) \
  FIELD(agent, product_name, product_name, 264, 264, 264) \
  FIELD(agent, model_name, model_name, 272, 272, 272) \
  FIELD(agent, node_id, node_id, 280, 280, 280) \
  FIELD(agent, logical_node_id, logical_node_id, 284, 284, 284) \
  FIELD(agent, logical_node_type_id, logical_node_type_id, 288, 288, 288) \
  FIELD(bank, heap_type, heap_type, 0, 0, 0) \
  FIELD(bank, size_in_bytes, size_in_bytes, 16, 16, 16)
#define DFT_HIP_RECORDS_ALL(RECORD) \
  RECORD(api, rocprofiler_buffer_tracing_hip_api_record_t, 56, 56, 64) \
  RECORD(copy, rocprofiler_buffer_tracing_memory_copy_record_t, 80, 80, 96) \
  RECORD(scratch, rocprofiler_buffer_tracing_scratch_memory_record_t, 80, 80, 88) \
  RECORD(retirement, rocprofiler_buffer_tracing_correlation_id_retirement_record_t, 32, 32, 32)
#define DFT_HIP_FIELDS_ALL(FIELD) \
  FIELD(api, size, size, 0, 0, 0) \
  FIELD(api, kind, kind, 8, 8, 8) \
  FIELD(api, operation, operation, 12, 12, 12) \
  FIELD(api, internal, correlation_id.internal, 16, 16, 16) \
  FIELD(api, external, correlation_id.external, 24, 24, 24) \
  FIELD(api, start, start_timestamp, 32, 32, 40) \
  FIELD(api, end, end_timestamp, 40, 40, 48) \
  FIELD(api, thread, thread_id, 48, 48, 56) \
  FIELD(copy, size, size, 0, 0, 0) \
  FIELD(copy, kind, kind, 8, 8, 8) \
  FIELD(copy, operation, operation, 12, 12, 12) \
  FIELD(copy, internal, correlation_id.internal, 16, 16, 16) \
  FIELD(copy, external, correlation_id.external, 24, 24, 24) \
  FIELD(copy, thread, thread_id, 32, 32, 32) \
  FIELD(copy, start, start_timestamp, 40, 40, 40) \
  FIELD(copy, end, end_timestamp, 48, 48, 48) \
  FIELD(copy, dst_agent, dst_agent_id, 56, 56, 56) \
  FIELD(copy, src_agent, src_agent_id, 64, 64, 64) \
  FIELD(copy, bytes, bytes, 72, 72, 72) \
  FIELD(scratch, size, size, 0, 0, 0) \
  FIELD(scratch, kind, kind, 8, 8, 8) \
  FIELD(scratch, operation, operation, 12, 12, 12) \
  FIELD(scratch, internal, correlation_id.internal, 56, 16, 16) \
  FIELD(scratch, agent, agent_id, 16, 32, 40) \
  FIELD(scratch, queue, queue_id, 24, 40, 48) \
  FIELD(scratch, thread, thread_id, 32, 48, 56) \
  FIELD(scratch, start, start_timestamp, 40, 56, 64) \
  FIELD(scratch, end, end_timestamp, 48, 64, 72) \
  FIELD(scratch, flags, flags, 72, 72, 80) \
  FIELD(retirement, size, size, 0, 0, 0) \
  FIELD(retirement, kind, kind, 8, 8, 8) \
  FIELD(retirement, timestamp, timestamp, 16, 16, 16) \
  FIELD(retirement, internal, internal_correlation_id, 24, 24, 24)
#define DFT_HIP_RECORDS_SINCE_06(RECORD) \
  RECORD(allocation, rocprofiler_buffer_tracing_memory_allocation_record_t, kNone, 80, 88) \
  RECORD(runtime, rocprofiler_buffer_tracing_runtime_initialization_record_t, kNone, 64, 72)
#define DFT_HIP_FIELDS_SINCE_06(FIELD) \
  FIELD(allocation, size, size, kNone, 0, 0) \
  FIELD(allocation, kind, kind, kNone, 8, 8) \
  FIELD(allocation, operation, operation, kNone, 12, 12) \
  FIELD(allocation, internal, correlation_id.internal, kNone, 16, 16) \
  FIELD(allocation, external, correlation_id.external, kNone, 24, 24) \
  FIELD(allocation, thread, thread_id, kNone, 32, 40) \
  FIELD(allocation, start, start_timestamp, kNone, 40, 48) \
  FIELD(allocation, end, end_timestamp, kNone, 48, 56) \
  FIELD(allocation, agent, agent_id, kNone, 56, 64) \
  FIELD(allocation, address, address, kNone, 64, 72) \
  FIELD(allocation, bytes, allocation_size, kNone, 72, 80) \
  FIELD(runtime, size, size, kNone, 0, 0) \
  FIELD(runtime, kind, kind, kNone, 8, 8) \
  FIELD(runtime, operation, operation, kNone, 12, 12) \
  FIELD(runtime, thread, thread_id, kNone, 32, 40) \
  FIELD(runtime, timestamp, timestamp, kNone, 40, 48) \
  FIELD(runtime, version, version, kNone, 48, 56) \
  FIELD(runtime, instance, instance, kNone, 56, 64) \
  FIELD(agent, uuid, uuid, kNone, 296, 296)
#define DFT_HIP_RECORDS_05(RECORD) \
  RECORD(migration, rocprofiler_buffer_tracing_page_migration_record_t, 136, kNone, kNone)
#define DFT_HIP_FIELDS_05(FIELD) \
  FIELD(migration, size, size, 0, kNone, kNone) \
  FIELD(migration, kind, kind, 8, kNone, kNone) \
  FIELD(migration, operation, operation, 12, kNone, kNone) \
  FIELD(migration, start, start_timestamp, 16, kNone, kNone) \
  FIELD(migration, end, end_timestamp, 24, kNone, kNone) \
  FIELD(migration, pid, pid, 32, kNone, kNone) \
  FIELD(migration, fault_flags, page_fault, 40, kNone, kNone) \
  FIELD(migration, fault_node, page_fault.node_id, 44, kNone, kNone) \
  FIELD(migration, fault_address, page_fault.address, 48, kNone, kNone) \
  FIELD(migration, migrate_start, page_migrate.start_addr, 40, kNone, kNone) \
  FIELD(migration, migrate_end, page_migrate.end_addr, 48, kNone, kNone) \
  FIELD(migration, migrate_from, page_migrate.from_node, 56, kNone, kNone) \
  FIELD(migration, migrate_to, page_migrate.to_node, 60, kNone, kNone) \
  FIELD(migration, migrate_prefetch, page_migrate.prefetch_node, 64, kNone, kNone) \
  FIELD(migration, migrate_preferred, page_migrate.preferred_node, 68, kNone, kNone) \
  FIELD(migration, migrate_trigger, page_migrate.trigger, 72, kNone, kNone) \
  FIELD(migration, suspend_flags, queue_suspend, 40, kNone, kNone) \
  FIELD(migration, suspend_node, queue_suspend.node_id, 44, kNone, kNone) \
  FIELD(migration, suspend_trigger, queue_suspend.trigger, 48, kNone, kNone) \
  FIELD(migration, unmap_node, unmap_from_gpu.node_id, 40, kNone, kNone) \
  FIELD(migration, unmap_start, unmap_from_gpu.start_addr, 48, kNone, kNone) \
  FIELD(migration, unmap_end, unmap_from_gpu.end_addr, 56, kNone, kNone) \
  FIELD(migration, unmap_trigger, unmap_from_gpu.trigger, 64, kNone, kNone)
#define DFT_HIP_RECORDS_06(RECORD) \
  RECORD(migration6, rocprofiler_buffer_tracing_page_migration_record_t, kNone, 160, kNone)
#define DFT_HIP_FIELDS_06(FIELD) \
  FIELD(migration6, size, size, kNone, 0, kNone) \
  FIELD(migration6, kind, kind, kNone, 8, kNone) \
  FIELD(migration6, operation, operation, kNone, 12, kNone) \
  FIELD(migration6, timestamp, timestamp, kNone, 16, kNone) \
  FIELD(migration6, pid, pid, kNone, 24, kNone) \
  FIELD(migration6, start_address, args.page_migrate_start.start_addr, kNone, 32, kNone) \
  FIELD(migration6, end_address, args.page_migrate_start.end_addr, kNone, 40, kNone) \
  FIELD(migration6, from_agent, args.page_migrate_start.from_agent, kNone, 48, kNone) \
  FIELD(migration6, to_agent, args.page_migrate_start.to_agent, kNone, 56, kNone) \
  FIELD(migration6, prefetch_agent, args.page_migrate_start.prefetch_agent, kNone, 64, kNone) \
  FIELD(migration6, preferred_agent, args.page_migrate_start.preferred_agent, kNone, 72, kNone) \
  FIELD(migration6, start_trigger, args.page_migrate_start.trigger, kNone, 80, kNone) \
  FIELD(migration6, end_trigger, args.page_migrate_end.trigger, kNone, 64, kNone) \
  FIELD(migration6, error_code, args.page_migrate_end.error_code, kNone, 68, kNone) \
  FIELD(migration6, fault_flags, args.page_fault_start, kNone, 32, kNone) \
  FIELD(migration6, fault_agent, args.page_fault_start.agent_id, kNone, 40, kNone) \
  FIELD(migration6, fault_address, args.page_fault_start.address, kNone, 48, kNone) \
  FIELD(migration6, unmap_agent, args.unmap_from_gpu.agent_id, kNone, 48, kNone) \
  FIELD(migration6, unmap_trigger, args.unmap_from_gpu.trigger, kNone, 56, kNone) \
  FIELD(migration6, eviction_agent, args.queue_eviction.agent_id, kNone, 32, kNone) \
  FIELD(migration6, eviction_trigger, args.queue_eviction.trigger, kNone, 40, kNone) \
  FIELD(migration6, restore_flags, args.queue_restore, kNone, 32, kNone) \
  FIELD(migration6, restore_agent, args.queue_restore.agent_id, kNone, 40, kNone) \
  FIELD(migration6, dropped, args.dropped_event.dropped_events_count, kNone, 32, kNone)
#define DFT_HIP_RECORDS_10(RECORD) \
  RECORD(stream, rocprofiler_callback_tracing_hip_stream_data_t, kNone, kNone, 24) \
  RECORD(kfd_migrate, rocprofiler_buffer_tracing_kfd_event_page_migrate_record_t, kNone, kNone, 88) \
  RECORD(kfd_fault, rocprofiler_buffer_tracing_kfd_event_page_fault_record_t, kNone, kNone, 48) \
  RECORD(kfd_queue, rocprofiler_buffer_tracing_kfd_event_queue_record_t, kNone, kNone, 40) \
  RECORD(kfd_unmap, rocprofiler_buffer_tracing_kfd_event_unmap_from_gpu_record_t, kNone, kNone, 56) \
  RECORD(kfd_dropped, rocprofiler_buffer_tracing_kfd_event_dropped_events_record_t, kNone, kNone, 32)
#define DFT_HIP_FIELDS_10(FIELD) \
  FIELD(api, ancestor, correlation_id.ancestor, kNone, kNone, 32) \
  FIELD(callback, ancestor, correlation_id.ancestor, kNone, kNone, 32) \
  FIELD(copy, dst_address, dst_address, kNone, kNone, 80) \
  FIELD(copy, src_address, src_address, kNone, kNone, 88) \
  FIELD(stream, size, size, kNone, kNone, 0) \
  FIELD(stream, stream_id, stream_id, kNone, kNone, 8) \
  FIELD(stream, stream_value, stream_value, kNone, kNone, 16) \
  FIELD(kfd_migrate, size, size, kNone, kNone, 0) \
  FIELD(kfd_migrate, kind, kind, kNone, kNone, 8) \
  FIELD(kfd_migrate, operation, operation, kNone, kNone, 12) \
  FIELD(kfd_migrate, timestamp, timestamp, kNone, kNone, 16) \
  FIELD(kfd_migrate, pid, pid, kNone, kNone, 24) \
  FIELD(kfd_migrate, start_address, start_address, kNone, kNone, 32) \
  FIELD(kfd_migrate, end_address, end_address, kNone, kNone, 40) \
  FIELD(kfd_migrate, src_agent, src_agent, kNone, kNone, 48) \
  FIELD(kfd_migrate, dst_agent, dst_agent, kNone, kNone, 56) \
  FIELD(kfd_migrate, prefetch_agent, prefetch_agent, kNone, kNone, 64) \
  FIELD(kfd_migrate, preferred_agent, preferred_agent, kNone, kNone, 72) \
  FIELD(kfd_migrate, error_code, error_code, kNone, kNone, 80) \
  FIELD(kfd_fault, size, size, kNone, kNone, 0) \
  FIELD(kfd_fault, kind, kind, kNone, kNone, 8) \
  FIELD(kfd_fault, operation, operation, kNone, kNone, 12) \
  FIELD(kfd_fault, timestamp, timestamp, kNone, kNone, 16) \
  FIELD(kfd_fault, pid, pid, kNone, kNone, 24) \
  FIELD(kfd_fault, agent_id, agent_id, kNone, kNone, 32) \
  FIELD(kfd_fault, address, address, kNone, kNone, 40) \
  FIELD(kfd_queue, size, size, kNone, kNone, 0) \
  FIELD(kfd_queue, kind, kind, kNone, kNone, 8) \
  FIELD(kfd_queue, operation, operation, kNone, kNone, 12) \
  FIELD(kfd_queue, timestamp, timestamp, kNone, kNone, 16) \
  FIELD(kfd_queue, pid, pid, kNone, kNone, 24) \
  FIELD(kfd_queue, agent_id, agent_id, kNone, kNone, 32) \
  FIELD(kfd_unmap, size, size, kNone, kNone, 0) \
  FIELD(kfd_unmap, kind, kind, kNone, kNone, 8) \
  FIELD(kfd_unmap, operation, operation, kNone, kNone, 12) \
  FIELD(kfd_unmap, timestamp, timestamp, kNone, kNone, 16) \
  FIELD(kfd_unmap, pid, pid, kNone, kNone, 24) \
  FIELD(kfd_unmap, agent_id, agent_id, kNone, kNone, 32) \
  FIELD(kfd_unmap, start_address, start_address, kNone, kNone, 40) \
  FIELD(kfd_unmap, end_address, end_address, kNone, kNone, 48) \
  FIELD(kfd_dropped, size, size, kNone, kNone, 0) \
  FIELD(kfd_dropped, kind, kind, kNone, kNone, 8) \
  FIELD(kfd_dropped, operation, operation, kNone, kNone, 12) \
  FIELD(kfd_dropped, timestamp, timestamp, kNone, kNone, 16) \
  FIELD(kfd_dropped, pid, pid, kNone, kNone, 24) \
  FIELD(kfd_dropped, count, count, kNone, kNone, 28)
// KIND(name, number in 0.5, 0.6, 1.0): of buffer tracing, then of callback tracing.
#define DFT_HIP_KINDS_ALL(KIND) \
  KIND(HSA_CORE_API, 1, 1, 1) \
  KIND(HSA_AMD_EXT_API, 2, 2, 2) \
  KIND(HSA_IMAGE_EXT_API, 3, 3, 3) \
  KIND(HSA_FINALIZE_EXT_API, 4, 4, 4) \
  KIND(HIP_RUNTIME_API, 5, 5, 5) \
  KIND(HIP_COMPILER_API, 6, 6, 6) \
  KIND(MARKER_CORE_API, 7, 7, 7) \
  KIND(MARKER_CONTROL_API, 8, 8, 8) \
  KIND(MARKER_NAME_API, 9, 9, 9) \
  KIND(MEMORY_COPY, 10, 10, 10) \
  KIND(KERNEL_DISPATCH, 11, 11, 11) \
  KIND(SCRATCH_MEMORY, 13, 13, 12) \
  KIND(CORRELATION_ID_RETIREMENT, 14, 14, 13) \
  KIND(RCCL_API, 15, 15, 14)
#define DFT_HIP_KINDS_UP_TO_06(KIND) \
  KIND(PAGE_MIGRATION, 12, 12, kNone)
#define DFT_HIP_KINDS_SINCE_06(KIND) \
  KIND(OMPT, kNone, 16, 15) \
  KIND(MEMORY_ALLOCATION, kNone, 17, 16) \
  KIND(RUNTIME_INITIALIZATION, kNone, 18, 17) \
  KIND(ROCDECODE_API, kNone, 19, 18)
#define DFT_HIP_KINDS_10(KIND) \
  KIND(ROCJPEG_API, kNone, kNone, 19) \
  KIND(HIP_STREAM, kNone, kNone, 20) \
  KIND(HIP_RUNTIME_API_EXT, kNone, kNone, 21) \
  KIND(HIP_COMPILER_API_EXT, kNone, kNone, 22) \
  KIND(ROCDECODE_API_EXT, kNone, kNone, 23) \
  KIND(KFD_EVENT_PAGE_MIGRATE, kNone, kNone, 24) \
  KIND(KFD_EVENT_PAGE_FAULT, kNone, kNone, 25) \
  KIND(KFD_EVENT_QUEUE, kNone, kNone, 26) \
  KIND(KFD_EVENT_UNMAP_FROM_GPU, kNone, kNone, 27) \
  KIND(KFD_EVENT_DROPPED_EVENTS, kNone, kNone, 28) \
  KIND(KFD_PAGE_MIGRATE, kNone, kNone, 29) \
  KIND(KFD_PAGE_FAULT, kNone, kNone, 30) \
  KIND(KFD_QUEUE, kNone, kNone, 31) \
  KIND(MARKER_CORE_RANGE_API, kNone, kNone, 32)
#define DFT_HIP_CALLBACKS_ALL(KIND) \
  KIND(HSA_CORE_API, 1, 1, 1) \
  KIND(HSA_AMD_EXT_API, 2, 2, 2) \
  KIND(HSA_IMAGE_EXT_API, 3, 3, 3) \
  KIND(HSA_FINALIZE_EXT_API, 4, 4, 4) \
  KIND(HIP_RUNTIME_API, 5, 5, 5) \
  KIND(HIP_COMPILER_API, 6, 6, 6) \
  KIND(MARKER_CORE_API, 7, 7, 7) \
  KIND(MARKER_CONTROL_API, 8, 8, 8) \
  KIND(MARKER_NAME_API, 9, 9, 9) \
  KIND(CODE_OBJECT, 10, 10, 10) \
  KIND(SCRATCH_MEMORY, 11, 11, 11) \
  KIND(KERNEL_DISPATCH, 12, 12, 12) \
  KIND(MEMORY_COPY, 13, 13, 13) \
  KIND(RCCL_API, 14, 14, 14)
#define DFT_HIP_CALLBACKS_SINCE_06(KIND) \
  KIND(OMPT, kNone, 15, 15) \
  KIND(MEMORY_ALLOCATION, kNone, 16, 16) \
  KIND(RUNTIME_INITIALIZATION, kNone, 17, 17) \
  KIND(ROCDECODE_API, kNone, 18, 18)
#define DFT_HIP_CALLBACKS_10(KIND) \
  KIND(ROCJPEG_API, kNone, kNone, 19) \
  KIND(HIP_STREAM, kNone, kNone, 20) \
  KIND(MARKER_CORE_RANGE_API, kNone, kNone, 21)
// clang-format on

enum class Release : std::uint8_t { k05, k06, k10 };

#define RECORD(record, type, a, b, c) record,
enum class Record {
  DFT_HIP_RECORDS_CORE(RECORD) DFT_HIP_RECORDS_ALL(RECORD) DFT_HIP_RECORDS_SINCE_06(RECORD) DFT_HIP_RECORDS_05(RECORD)
      DFT_HIP_RECORDS_06(RECORD) DFT_HIP_RECORDS_10(RECORD)
};
#undef RECORD
#define RECORD(record, type, a, b, c) {a, b, c},
inline constexpr int kSizes[][3] = {DFT_HIP_RECORDS_CORE(RECORD) DFT_HIP_RECORDS_ALL(RECORD) DFT_HIP_RECORDS_SINCE_06(
    RECORD) DFT_HIP_RECORDS_05(RECORD) DFT_HIP_RECORDS_06(RECORD) DFT_HIP_RECORDS_10(RECORD)};
#undef RECORD
#define FIELD(record, field, member, a, b, c) record##_##field,
enum class Field {
  DFT_HIP_FIELDS_CORE(FIELD) DFT_HIP_FIELDS_ALL(FIELD) DFT_HIP_FIELDS_SINCE_06(FIELD) DFT_HIP_FIELDS_05(FIELD)
      DFT_HIP_FIELDS_06(FIELD) DFT_HIP_FIELDS_10(FIELD)
};
#undef FIELD
#define FIELD(record, field, member, a, b, c) {a, b, c},
inline constexpr int kOffsets[][3] = {DFT_HIP_FIELDS_CORE(FIELD) DFT_HIP_FIELDS_ALL(FIELD) DFT_HIP_FIELDS_SINCE_06(
    FIELD) DFT_HIP_FIELDS_05(FIELD) DFT_HIP_FIELDS_06(FIELD) DFT_HIP_FIELDS_10(FIELD)};
#undef FIELD

constexpr int size_of(Record record, Release release) {
  return kSizes[static_cast<int>(record)][static_cast<int>(release)];
}
constexpr int offset_of(Field field, Release release) {
  return kOffsets[static_cast<int>(field)][static_cast<int>(release)];
}

struct KindNumber {
  const char* name;
  int number[3];
};
#define KIND(name, a, b, c) {#name, {a, b, c}},
inline constexpr KindNumber kKinds[] = {DFT_HIP_KINDS_ALL(KIND) DFT_HIP_KINDS_UP_TO_06(KIND)
                                            DFT_HIP_KINDS_SINCE_06(KIND) DFT_HIP_KINDS_10(KIND)};
inline constexpr KindNumber kCallbackKinds[] = {DFT_HIP_CALLBACKS_ALL(KIND) DFT_HIP_CALLBACKS_SINCE_06(KIND)
                                                    DFT_HIP_CALLBACKS_10(KIND)};
#undef KIND

}  // namespace standin
