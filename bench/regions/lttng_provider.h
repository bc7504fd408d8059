// SPDX-License-Identifier: MIT
// LTTng-UST's tracepoints of the region benchmark: a region is a begin and an end event; the args ride on the end.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER dftracer_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "regions/lttng_provider.h"

#if !defined(BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(dftracer_bench, begin, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_EVENT(dftracer_bench, end, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_EVENT(
    dftracer_bench, end_args, LTTNG_UST_TP_ARGS(int, step, int, size, double, loss, const char*, file),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, step, step) lttng_ust_field_integer(int, size, size)
                            lttng_ust_field_float(double, loss, loss) lttng_ust_field_string(file, file)))

#endif

#include <lttng/tracepoint-event.h>
