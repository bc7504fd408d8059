// SPDX-License-Identifier: MIT
// layout.h against the real headers of one SDK release: compiles when they agree. Without the record structs, as in the
// subset of the headers that is public, the rest is proven.
#include <cstddef>

#if !defined(__HIP_PLATFORM_AMD__)
#define __HIP_PLATFORM_AMD__ 1
#endif
#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/version.h>

#include "layout.h"

namespace {

#if ROCPROFILER_VERSION_MAJOR > 0
constexpr int kRelease = 2;
#else
constexpr int kRelease = ROCPROFILER_VERSION_MINOR > 5 ? 1 : 0;
#endif
// Releases between and after these may append to what they have.
constexpr bool kKnown =
    ROCPROFILER_VERSION_MAJOR == 0 || (ROCPROFILER_VERSION_MAJOR == 1 && ROCPROFILER_VERSION_MINOR == 0);
constexpr int kNone [[maybe_unused]] = standin::kNone;

constexpr std::size_t of(int a, int b, int c) {
  return static_cast<std::size_t>(kRelease == 0 ? a : kRelease == 1 ? b : c);
}

#define RECORD(record, type, a, b, c) \
  using record = type;                \
  static_assert(kKnown ? sizeof(type) == of(a, b, c) : sizeof(type) >= of(a, b, c), #type);
#define FIELD(record, field, member, a, b, c) \
  static_assert(offsetof(record, member) == of(a, b, c), #record " " #member);
#define SAME_AS_API(type)                                                                                         \
  static_assert(sizeof(type) == sizeof(api) && offsetof(type, correlation_id) == offsetof(api, correlation_id) && \
                    offsetof(type, start_timestamp) == offsetof(api, start_timestamp) &&                          \
                    offsetof(type, thread_id) == offsetof(api, thread_id),                                        \
                #type);

#define KIND(name, a, b, c) static_assert(ROCPROFILER_BUFFER_TRACING_##name == of(a, b, c), #name);
#define CALLBACK(name, a, b, c) static_assert(ROCPROFILER_CALLBACK_TRACING_##name == of(a, b, c), #name);

DFT_HIP_KINDS_ALL(KIND)
DFT_HIP_CALLBACKS_ALL(CALLBACK)
#if ROCPROFILER_VERSION_MAJOR == 0
DFT_HIP_KINDS_UP_TO_06(KIND)
#else
DFT_HIP_KINDS_10(KIND)
DFT_HIP_CALLBACKS_10(CALLBACK)
#endif
#if ROCPROFILER_VERSION_MAJOR > 0 || ROCPROFILER_VERSION_MINOR > 5
DFT_HIP_KINDS_SINCE_06(KIND)
DFT_HIP_CALLBACKS_SINCE_06(CALLBACK)
#endif

DFT_HIP_RECORDS_CORE(RECORD)
DFT_HIP_FIELDS_CORE(FIELD)
#if __has_include(<rocprofiler-sdk/hsa.h>)
DFT_HIP_RECORDS_ALL(RECORD)
DFT_HIP_FIELDS_ALL(FIELD)
SAME_AS_API(rocprofiler_buffer_tracing_hsa_api_record_t)
SAME_AS_API(rocprofiler_buffer_tracing_marker_api_record_t)
SAME_AS_API(rocprofiler_buffer_tracing_rccl_api_record_t)
#if ROCPROFILER_VERSION_MAJOR > 0 || ROCPROFILER_VERSION_MINOR > 5
DFT_HIP_RECORDS_SINCE_06(RECORD)
DFT_HIP_FIELDS_SINCE_06(FIELD)
#else
DFT_HIP_RECORDS_05(RECORD)
DFT_HIP_FIELDS_05(FIELD)
#endif
#if ROCPROFILER_VERSION_MAJOR > 0
DFT_HIP_RECORDS_10(RECORD)
DFT_HIP_FIELDS_10(FIELD)
#elif ROCPROFILER_VERSION_MINOR > 5
DFT_HIP_RECORDS_06(RECORD)
DFT_HIP_FIELDS_06(FIELD)
#endif
#endif

}  // namespace
