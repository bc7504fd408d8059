// SPDX-License-Identifier: MIT
// LTTng-UST's tracepoints of the preloaded comparator: a call is a begin and an end event, with what is needed to know
// file, size and result.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER dftracer_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "io/lttng_io_provider.h"

#if !defined(BENCH_LTTNG_IO_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_IO_PROVIDER_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(dftracer_bench, open_begin, LTTNG_UST_TP_ARGS(const char*, path, int, flags),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_string(path, path)
                                                   lttng_ust_field_integer(int, flags, flags)))
LTTNG_UST_TRACEPOINT_EVENT(dftracer_bench, call_begin, LTTNG_UST_TP_ARGS(long, file, size_t, count),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(long, file, file)
                                                   lttng_ust_field_integer(size_t, count, count)))
LTTNG_UST_TRACEPOINT_EVENT(dftracer_bench, call_end, LTTNG_UST_TP_ARGS(const char*, name, long, ret),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_string(name, name)
                                                   lttng_ust_field_integer(long, ret, ret)))

#endif

#include <lttng/tracepoint-event.h>
