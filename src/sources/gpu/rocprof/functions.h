// SPDX-License-Identifier: MIT
// Purpose: rocprofiler-sdk's functions as pointers, found in a library that is open. Nothing of AMD's is linked.
// Invariant: every needed function of a table that load_functions accepted is there; the others may be null, whatever
//            the version says. layout_proofs.cc holds the signatures against the headers of the build, if it has any.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sources/gpu/rocprof/declarations.h"

namespace dft::gpu::rocprof {

using BufferCallback = void (*)(Id context, Id buffer, RecordHeader** records, std::size_t count, void* data,
                                std::uint64_t drops);
using TracingCallback0 = void (*)(CallbackRecord0 record, std::uint64_t* user, void* data);
using TracingCallback1 = void (*)(CallbackRecord1 record, std::uint64_t* user, void* data);
using KindCallback = int (*)(int kind, void* data);  // not 0: no more
using OperationCallback = int (*)(int kind, std::int32_t operation, void* data);
using AgentsCallback = Status (*)(int version, const void** agents, std::size_t count, void* data);
using ThreadCallback = void (*)(int library, void* data);
using RequestCallback = int (*)(std::uint64_t thread, Id context, int kind, std::int32_t operation,
                                std::uint64_t internal, std::uint64_t* external, void* data);

// X(member, symbol behind "rocprofiler_", needed, signature)
// A callback that takes its record by value stands as void*: which one, the generation decides.
#define DFT_ROCPROF_FUNCTIONS(X)                                                                                       \
  X(get_version, get_version, true, Status (*)(std::uint32_t*, std::uint32_t*, std::uint32_t*))                        \
  X(is_initialized, is_initialized, true, Status (*)(int*))                                                            \
  X(is_finalized, is_finalized, true, Status (*)(int*))                                                                \
  X(force_configure, force_configure, false, Status (*)(Configure))                                                    \
  X(status_name, get_status_name, false, const char* (*)(Status))                                                      \
  X(status_text, get_status_string, false, const char* (*)(Status))                                                    \
  X(create_context, create_context, true, Status (*)(Id*))                                                             \
  X(context_is_valid, context_is_valid, true, Status (*)(Id, int*))                                                    \
  X(context_is_active, context_is_active, true, Status (*)(Id, int*))                                                  \
  X(start_context, start_context, true, Status (*)(Id))                                                                \
  X(stop_context, stop_context, true, Status (*)(Id))                                                                  \
  X(create_buffer, create_buffer, true, Status (*)(Id, std::size_t, std::size_t, int, BufferCallback, void*, Id*))     \
  X(flush_buffer, flush_buffer, true, Status (*)(Id))                                                                  \
  X(create_callback_thread, create_callback_thread, true, Status (*)(Id*))                                             \
  X(assign_callback_thread, assign_callback_thread, true, Status (*)(Id, Id))                                          \
  X(trace_buffered, configure_buffer_tracing_service, true, Status (*)(Id, int, const std::int32_t*, std::size_t, Id)) \
  X(trace_by_callback, configure_callback_tracing_service, true,                                                       \
    Status (*)(Id, int, const std::int32_t*, std::size_t, void*, void*))                                               \
  X(request_external_ids, configure_external_correlation_id_request_service, false,                                    \
    Status (*)(Id, const int*, std::size_t, RequestCallback, void*))                                                   \
  X(for_each_buffered_kind, iterate_buffer_tracing_kinds, true, Status (*)(KindCallback, void*))                       \
  X(for_each_buffered_operation, iterate_buffer_tracing_kind_operations, true,                                         \
    Status (*)(int, OperationCallback, void*))                                                                         \
  X(buffered_kind_name, query_buffer_tracing_kind_name, true, Status (*)(int, const char**, std::uint64_t*))           \
  X(buffered_operation_name, query_buffer_tracing_kind_operation_name, true,                                           \
    Status (*)(int, std::int32_t, const char**, std::uint64_t*))                                                       \
  X(for_each_callback_kind, iterate_callback_tracing_kinds, true, Status (*)(KindCallback, void*))                     \
  X(for_each_callback_operation, iterate_callback_tracing_kind_operations, true,                                       \
    Status (*)(int, OperationCallback, void*))                                                                         \
  X(callback_kind_name, query_callback_tracing_kind_name, true, Status (*)(int, const char**, std::uint64_t*))         \
  X(callback_operation_name, query_callback_tracing_kind_operation_name, true,                                         \
    Status (*)(int, std::int32_t, const char**, std::uint64_t*))                                                       \
  X(for_each_agent, query_available_agents, true, Status (*)(int, AgentsCallback, std::size_t, void*))                 \
  X(get_timestamp, get_timestamp, true, Status (*)(std::uint64_t*))                                                    \
  X(at_thread_create, at_internal_thread_create, false, Status (*)(ThreadCallback, ThreadCallback, int, void*))

// Signature_<symbol>
#define DFT_ROCPROF_SIGNATURE(member, symbol, needed, ...) using Signature_##symbol = __VA_ARGS__;
DFT_ROCPROF_FUNCTIONS(DFT_ROCPROF_SIGNATURE)
#undef DFT_ROCPROF_SIGNATURE

struct Functions {
#define DFT_ROCPROF_MEMBER(member, symbol, needed, ...) Signature_##symbol member = nullptr;
  DFT_ROCPROF_FUNCTIONS(DFT_ROCPROF_MEMBER)
#undef DFT_ROCPROF_MEMBER
};

// The table as rows, in the order of the members.
struct FunctionRow {
  const char* symbol;
  bool needed;
};
inline constexpr FunctionRow kFunctionRows[] = {
#define DFT_ROCPROF_ROW(member, symbol, needed, ...) {"rocprofiler_" #symbol, needed},
    DFT_ROCPROF_FUNCTIONS(DFT_ROCPROF_ROW)
#undef DFT_ROCPROF_ROW
};

// Fills the table from an open library. Returns the first needed function that is missing, or null.
const char* load_functions(void* library, Functions* out);

}  // namespace dft::gpu::rocprof
