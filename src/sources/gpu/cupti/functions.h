// SPDX-License-Identifier: MIT
// Purpose: CUPTI's functions as pointers, found in a library that is open. Nothing of CUPTI is linked.
// Invariant: every required function of a table that load_functions accepted is there; the others may be null,
//            whatever the version says: what a library can do is asked of its symbols. layout_proofs.cc holds the
//            signatures against the headers of the build.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sources/gpu/cupti/cupti_headers.h"

namespace dft::gpu::cupti {

// As cuptiSubscribe_v2 takes them (13.0); `size` says how far the struct is filled, so that it serves every later one.
struct SubscriberParams {
  std::size_t size;
  const char* name;
  char* holder;  // who has the subscription; at least 64 bytes
  std::size_t holder_size;
  std::uint8_t share;  // from 13.2 on
  std::uint8_t padding[7];
};
inline constexpr std::size_t kSubscriberParamsWithoutShare = offsetof(SubscriberParams, share);
inline constexpr std::size_t kSubscriberParamsWithShare = sizeof(SubscriberParams);

// X(member, symbol, oldest CUDA that has it, needed, signature)
// Types that the headers of 10.1 do not declare stand as void*.
#define DFT_CUPTI_FUNCTIONS(X)                                                                                         \
  X(get_version, cuptiGetVersion, 8000, true, CUptiResult (*)(std::uint32_t*))                                         \
  X(get_result_string, cuptiGetResultString, 8000, true, CUptiResult (*)(CUptiResult, const char**))                   \
  X(get_timestamp, cuptiGetTimestamp, 8000, true, CUptiResult (*)(std::uint64_t*))                                     \
  X(get_device_id, cuptiGetDeviceId, 8000, true, CUptiResult (*)(CUcontext, std::uint32_t*))                           \
  X(get_context_id, cuptiGetContextId, 8000, true, CUptiResult (*)(CUcontext, std::uint32_t*))                         \
  X(get_stream_id, cuptiGetStreamIdEx, 8000, true, CUptiResult (*)(CUcontext, CUstream, std::uint8_t, std::uint32_t*)) \
  X(register_callbacks, cuptiActivityRegisterCallbacks, 8000, true,                                                    \
    CUptiResult (*)(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc))                              \
  X(enable, cuptiActivityEnable, 8000, true, CUptiResult (*)(CUpti_ActivityKind))                                      \
  X(disable, cuptiActivityDisable, 8000, true, CUptiResult (*)(CUpti_ActivityKind))                                    \
  X(next_record, cuptiActivityGetNextRecord, 8000, true,                                                               \
    CUptiResult (*)(std::uint8_t*, std::size_t, CUpti_Activity**))                                                     \
  X(flush_all, cuptiActivityFlushAll, 8000, true, CUptiResult (*)(std::uint32_t))                                      \
  X(dropped_records, cuptiActivityGetNumDroppedRecords, 8000, true,                                                    \
    CUptiResult (*)(CUcontext, std::uint32_t, std::size_t*))                                                           \
  X(set_attribute, cuptiActivitySetAttribute, 8000, true,                                                              \
    CUptiResult (*)(CUpti_ActivityAttribute, std::size_t*, void*))                                                     \
  X(get_attribute, cuptiActivityGetAttribute, 8000, true,                                                              \
    CUptiResult (*)(CUpti_ActivityAttribute, std::size_t*, void*))                                                     \
  X(subscribe, cuptiSubscribe, 8000, true, CUptiResult (*)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*))        \
  X(unsubscribe, cuptiUnsubscribe, 8000, true, CUptiResult (*)(CUpti_SubscriberHandle))                                \
  X(enable_callback, cuptiEnableCallback, 8000, true,                                                                  \
    CUptiResult (*)(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId))                    \
  X(enable_domain, cuptiEnableDomain, 8000, true,                                                                      \
    CUptiResult (*)(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain))                                      \
  X(callback_name, cuptiGetCallbackName, 8000, true,                                                                   \
    CUptiResult (*)(CUpti_CallbackDomain, std::uint32_t, const char**))                                                \
  X(set_thread_id_type, cuptiSetThreadIdType, 8000, true, CUptiResult (*)(CUpti_ActivityThreadIdType))                 \
  X(configure_unified_memory, cuptiActivityConfigureUnifiedMemoryCounter, 8000, false,                                 \
    CUptiResult (*)(CUpti_ActivityUnifiedMemoryCounterConfig*, std::uint32_t))                                         \
  X(push_external_id, cuptiActivityPushExternalCorrelationId, 8000, false,                                             \
    CUptiResult (*)(CUpti_ExternalCorrelationKind, std::uint64_t))                                                     \
  X(pop_external_id, cuptiActivityPopExternalCorrelationId, 8000, false,                                               \
    CUptiResult (*)(CUpti_ExternalCorrelationKind, std::uint64_t*))                                                    \
  X(graph_id, cuptiGetGraphId, 11010, false, CUptiResult (*)(CUgraph, std::uint32_t*))                                 \
  X(graph_node_id, cuptiGetGraphNodeId, 11000, false, CUptiResult (*)(CUgraphNode, std::uint64_t*))                    \
  X(graph_exec_id, cuptiGetGraphExecId, 12030, false, CUptiResult (*)(CUgraphExec, std::uint32_t*))                    \
  X(register_clock, cuptiActivityRegisterTimestampCallback, 11060, false, CUptiResult (*)(std::uint64_t(*)()))         \
  X(enable_and_dump, cuptiActivityEnableAndDump, 11070, false, CUptiResult (*)(CUpti_ActivityKind))                    \
  X(error_message, cuptiGetErrorMessage, 12020, false, CUptiResult (*)(CUptiResult, const char**))                     \
  X(enable_runtime_api, cuptiActivityEnableRuntimeApi, 12050, false, CUptiResult (*)(CUpti_CallbackId, std::uint8_t))  \
  X(enable_driver_api, cuptiActivityEnableDriverApi, 12050, false, CUptiResult (*)(CUpti_CallbackId, std::uint8_t))    \
  X(enable_allocation_source, cuptiActivityEnableAllocationSource, 12060, false, CUptiResult (*)(std::uint8_t))        \
  X(enable_all_sync_records, cuptiActivityEnableAllSyncRecords, 12080, false, CUptiResult (*)(std::uint8_t))           \
  X(subscribe_v2, cuptiSubscribe_v2, 13000, false,                                                                     \
    CUptiResult (*)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*, void*))                                        \
  X(enable_v2, cuptiActivityEnable_v2, 13020, false,                                                                   \
    CUptiResult (*)(CUpti_SubscriberHandle, CUpti_ActivityKind, void*))                                                \
  X(disable_v2, cuptiActivityDisable_v2, 13020, false,                                                                 \
    CUptiResult (*)(CUpti_SubscriberHandle, CUpti_ActivityKind, void*))                                                \
  X(enable_and_dump_v2, cuptiActivityEnableAndDump_v2, 13020, false,                                                   \
    CUptiResult (*)(CUpti_SubscriberHandle, CUpti_ActivityKind, void*))                                                \
  X(register_callbacks_v2, cuptiActivityRegisterCallbacks_v2, 13020, false,                                            \
    CUptiResult (*)(CUpti_SubscriberHandle, void*, void*))                                                             \
  X(next_record_v2, cuptiActivityGetNextRecord_v2, 13030, false,                                                       \
    CUptiResult (*)(CUpti_SubscriberHandle, std::uint8_t*, std::size_t, CUpti_Activity**))                             \
  X(dropped_records_v2, cuptiActivityGetNumDroppedRecords_v2, 13030, false,                                            \
    CUptiResult (*)(CUpti_SubscriberHandle, CUcontext, std::uint32_t, std::size_t*))                                   \
  X(set_attribute_v2, cuptiActivitySetAttribute_v2, 13020, false,                                                      \
    CUptiResult (*)(CUpti_SubscriberHandle, CUpti_ActivityAttribute, std::size_t*, void*))                             \
  X(enable_runtime_api_v2, cuptiActivityEnableRuntimeApi_v2, 13030, false,                                             \
    CUptiResult (*)(CUpti_SubscriberHandle, CUpti_CallbackId, std::uint8_t))                                           \
  X(enable_driver_api_v2, cuptiActivityEnableDriverApi_v2, 13030, false,                                               \
    CUptiResult (*)(CUpti_SubscriberHandle, CUpti_CallbackId, std::uint8_t))

// Signature_<symbol>
#define DFT_CUPTI_SIGNATURE(member, symbol, oldest, needed, ...) using Signature_##symbol = __VA_ARGS__;
DFT_CUPTI_FUNCTIONS(DFT_CUPTI_SIGNATURE)
#undef DFT_CUPTI_SIGNATURE

struct Functions {
#define DFT_CUPTI_MEMBER(member, symbol, oldest, needed, ...) Signature_##symbol member = nullptr;
  DFT_CUPTI_FUNCTIONS(DFT_CUPTI_MEMBER)
#undef DFT_CUPTI_MEMBER
};

// The table as rows, in the order of the members.
struct FunctionRow {
  const char* symbol;
  std::uint32_t oldest_cuda;
  bool needed;
  std::size_t offset;  // in Functions
};
inline constexpr FunctionRow kFunctionRows[] = {
#define DFT_CUPTI_ROW(member, symbol, oldest, needed, ...) {#symbol, oldest, needed, offsetof(Functions, member)},
    DFT_CUPTI_FUNCTIONS(DFT_CUPTI_ROW)
#undef DFT_CUPTI_ROW
};

// Fills the table from an open library. Returns the first needed function that is missing, or null.
const char* load_functions(void* library, Functions* out);

}  // namespace dft::gpu::cupti
