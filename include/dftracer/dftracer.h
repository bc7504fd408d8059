/* SPDX-License-Identifier: MIT
 *
 * Purpose: the public C API of DFTracer: annotate a program, and with DFTRACER_ENABLE=1 in the environment every region
 *          becomes an event of a trace. C99 and newer; C++ gets its own macros too (dftracer.hpp, included below).
 * Threads: every macro and function may be used by any thread at any time. None of them fails, ends the program, throws
 *          or changes errno; null strings and regions are allowed everywhere and ignored.
 * Cost:    with tracing off a macro costs one load and one predictable branch, and calls nothing. With DFTRACER_DISABLE
 *          defined before this header every macro vanishes, and the program needs no library.
 * See:     docs/api.md
 */
#ifndef DFTRACER_DFTRACER_H
#define DFTRACER_DFTRACER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
#define DFTRACER_NOEXCEPT_ noexcept
extern "C" {
#else
#define DFTRACER_NOEXCEPT_
#endif

/* ---- Types and constants ------------------------------------------------------------------------------------ */

typedef uint64_t TimeResolution; /* a time in the trace's unit */
typedef unsigned long ThreadID;
typedef int ProcessID;
typedef char* HashType;
typedef uint64_t EntityID; /* 0: none */

#define DF_DATA_EVENT 0     /* event_type of an ordinary region */
#define DF_METADATA_EVENT 1 /* a region that takes no args */

#define C_LOG_CATEGORY "C_APP"
#define CPP_LOG_CATEGORY "CPP_APP"

/* The `type` that the trace gives to events of the APIs. */
#define DFTRACER_TYPE_C_APP 2
#define DFTRACER_TYPE_PYTHON 6
#define DFTRACER_TYPE_CPP_APP 9

/* What an arg is for when events are aggregated; all are recorded alike. */
typedef enum MetadataType { MT_KEY = 0, MT_VALUE = 1, MT_IGNORE = 2 } MetadataType;

/* Where an entity lives. */
typedef enum EntityStore {
  DFT_STORE_MEMORY = 0,
  DFT_STORE_GPU_MEMORY = 1,
  DFT_STORE_LOCAL_DISK = 2,
  DFT_STORE_PARALLEL_FS = 3,
  DFT_STORE_BURST_BUFFER = 4,
  DFT_STORE_OBJECT_STORE = 5,
  DFT_STORE_DATABASE = 6,
  DFT_STORE_NETWORK = 7,
  DFT_STORE_OTHER = 8
} EntityStore;

/* What entities of a type are to the workflow. */
typedef enum EntityRole {
  DFT_ROLE_UNKNOWN = 0,
  DFT_ROLE_INPUT = 1,
  DFT_ROLE_OUTPUT = 2,
  DFT_ROLE_INTERMEDIATE = 3,
  DFT_ROLE_PARAMETER = 4,
  DFT_ROLE_REFERENCE = 5
} EntityRole;

/* Below 16 from an event to an entity, from 16 on between entities. The wrong kind in a call is ignored. */
typedef enum EntityRelation {
  DFT_REL_USED = 0,
  DFT_REL_GENERATED = 1,
  DFT_REL_INVALIDATED = 2,
  DFT_REL_UPDATED = 3,
  DFT_REL_DERIVED_FROM = 16,
  DFT_REL_REVISION_OF = 17,
  DFT_REL_CONTAINS = 18,
  DFT_REL_PART_OF = 19,
  DFT_REL_SPECIALIZATION_OF = 20,
  DFT_REL_ALTERNATE_OF = 21,
  DFT_REL_DEPENDS_ON = 22
} EntityRelation;

struct DFTracerData; /* an open region */

/* One place in the source. Static; the library fills in `id` at the first event. */
struct dftracer_site {
  const char* name;
  const char* cat;
  int type;
  uint32_t id;
};

/* ---- Functions ---------------------------------------------------------------------------------------------- */

/* 0: tracing is off, and nothing in this process can be recorded now. */
extern int dftracer_on;

/* Starts tracing when the configuration switches it on. Null or empty arguments: the configuration's. data_dirs is
 * joined with the configured list; *process_id becomes an arg of the `start` event. no_bind: the same,
 * since only the preload library brings interception. */
void dftracer_initialize_main(const char* log_file, const char* data_dirs, int* process_id) DFTRACER_NOEXCEPT_;
void dftracer_initialize_no_bind(const char* log_file, const char* data_dirs, int* process_id) DFTRACER_NOEXCEPT_;
/* Writes everything and closes the trace. Regions still open are written with the arg open_at_end. A later
 * initialisation opens a new trace; until then nothing is recorded. */
void dftracer_finalize(void) DFTRACER_NOEXCEPT_;

/* For worker processes, which their parent ends by SIGTERM: where that signal simply kills, the trace is ended first.
 */
void dftracer_note_worker(void) DFTRACER_NOEXCEPT_;

/* CUPTI, by which GPUs are traced, serves one client in a process. Around the run of another one, such as a profiler of
 * the program's own: with DFTRACER_CUDA_YIELD=1 the tracer gives CUPTI up in between and records the gap; without, it
 * keeps CUPTI and says once, on stderr and in the trace, that the other one will see nothing of the GPU. Calls nest.
 * Returns 1 when CUPTI is free for the other one. torch.profiler is noticed by the Python package. */
int dftracer_gpu_profiler_begins(const char* name) DFTRACER_NOEXCEPT_;
void dftracer_gpu_profiler_ends(void) DFTRACER_NOEXCEPT_;
/* What NVTX_INJECTION64_PATH has to be set to, before the first call of NVTX, for NVTX ranges to be recorded; as
 * snprintf. Empty and 0: nothing is to be done, or ranges are not recorded. */
size_t dftracer_nvtx_library(char* out, size_t size) DFTRACER_NOEXCEPT_;

/* A region; to end one, pointers that are no open region are ignored. event_type: DF_DATA_EVENT or DF_METADATA_EVENT.
 */
struct DFTracerData* dftracer_initialize_region(const char* name, const char* cat, int event_type) DFTRACER_NOEXCEPT_;
void dftracer_finalize_region(struct DFTracerData* region) DFTRACER_NOEXCEPT_;
void dftracer_finalize_region_cleanup(struct DFTracerData** region) DFTRACER_NOEXCEPT_;

/* Args of a region; the last value of a key stays. */
void dftracer_update_metadata_int(struct DFTracerData* region, const char* key, int value) DFTRACER_NOEXCEPT_;
void dftracer_update_metadata_string(struct DFTracerData* region, const char* key,
                                     const char* value) DFTRACER_NOEXCEPT_;
void dftracer_update_metadata_int_type(struct DFTracerData* region, const char* key, int value,
                                       int type) DFTRACER_NOEXCEPT_;
void dftracer_update_metadata_string_type(struct DFTracerData* region, const char* key, const char* value,
                                          int type) DFTRACER_NOEXCEPT_;
void dftracer_region_update_int64(struct DFTracerData* region, const char* key, int64_t value) DFTRACER_NOEXCEPT_;
void dftracer_region_update_uint64(struct DFTracerData* region, const char* key, uint64_t value) DFTRACER_NOEXCEPT_;
void dftracer_region_update_double(struct DFTracerData* region, const char* key, double value) DFTRACER_NOEXCEPT_;
void dftracer_region_update_bool(struct DFTracerData* region, const char* key, int value) DFTRACER_NOEXCEPT_;
void dftracer_region_update_str(struct DFTracerData* region, const char* key, const char* value) DFTRACER_NOEXCEPT_;
void dftracer_region_update_strn(struct DFTracerData* region, const char* key, const char* value,
                                 size_t length) DFTRACER_NOEXCEPT_;

/* For the macros: an arg under a key of 1 to 8 bytes that is known at compile time and comes as one little-endian word.
 * kind: 1 int64, 2 uint64, 3 double (its bits), 4 bool. Of kind and length the lowest byte counts; what is none of
 * these is ignored. */
void dftracer_region_update_word(struct DFTracerData* region, uint64_t key_word, uint32_t key_length, int kind,
                                 uint64_t bits) DFTRACER_NOEXCEPT_;
void dftracer_region_update_word_str(struct DFTracerData* region, uint64_t key_word, uint32_t key_length,
                                     const char* value, size_t length) DFTRACER_NOEXCEPT_;

/* Notes of the process, written into the `end` event; the last value of a key stays. */
void dftracer_set_app_metadata_int(const char* key, int value) DFTRACER_NOEXCEPT_;
void dftracer_set_app_metadata_int64(const char* key, int64_t value) DFTRACER_NOEXCEPT_;
void dftracer_set_app_metadata_string(const char* key, const char* value) DFTRACER_NOEXCEPT_;
void dftracer_mark_used(const char* name) DFTRACER_NOEXCEPT_;

/* Entities: what the events worked on. The id depends only on type and key. 0 when off or when either is null. */
EntityID dftracer_declare_entity(const char* type, const char* key, int store, const char* uri) DFTRACER_NOEXCEPT_;
void dftracer_declare_entity_type(const char* type, int role, const char* description) DFTRACER_NOEXCEPT_;
void dftracer_relate_entities(int relation, EntityID subject, EntityID object) DFTRACER_NOEXCEPT_;
void dftracer_update_relation(struct DFTracerData* region, int relation, EntityID id) DFTRACER_NOEXCEPT_;
EntityID dftracer_update_relation_entity(struct DFTracerData* region, int relation, const char* type, const char* key,
                                         int store, const char* uri) DFTRACER_NOEXCEPT_;

/* The id of (type, key), declared or not. */
EntityID dftracer_entity_id(const char* type, const char* key) DFTRACER_NOEXCEPT_;

/* The trace's clock, in the trace's unit (DFTRACER_TIME_METRIC). 0 when off. */
TimeResolution dftracer_get_time(void) DFTRACER_NOEXCEPT_;
/* The value in force of a configuration variable (DFTRACER_LOG_FILE), null-terminated and cut to `size`. Returns its
 * whole length; 0, and "" in `out`, when off or unknown. */
size_t dftracer_get_config(const char* variable, char* out, size_t size) DFTRACER_NOEXCEPT_;

/* For bindings of other languages, whose names and strings have lengths and may hold any byte. site_id: the `id` of a
 * struct dftracer_site. A key has up to 65535 bytes; kind as in dftracer_region_update_word. */
uint32_t dftracer_site_id(const char* name, size_t name_length, const char* cat, size_t cat_length,
                          int type) DFTRACER_NOEXCEPT_;
void dftracer_region_update_bits(struct DFTracerData* region, const char* key, size_t key_length, int kind,
                                 uint64_t bits) DFTRACER_NOEXCEPT_;
void dftracer_region_update_bytes(struct DFTracerData* region, const char* key, size_t key_length, const char* value,
                                  size_t length) DFTRACER_NOEXCEPT_;
/* Ends a region as an event of these times of the trace's clock, in its unit; or as an instant event of the moment at
 * which it began; or as nothing at all. */
void dftracer_region_end_at(struct DFTracerData* region, TimeResolution start,
                            TimeResolution duration) DFTRACER_NOEXCEPT_;
void dftracer_region_end_instant(struct DFTracerData* region) DFTRACER_NOEXCEPT_;
void dftracer_region_drop(struct DFTracerData* region) DFTRACER_NOEXCEPT_;

/* What the macros call. region_end_exception: an exception that is on its way ends the region. */
struct DFTracerData* dftracer_region_start(struct dftracer_site* site) DFTRACER_NOEXCEPT_;
struct DFTracerData* dftracer_region_start_named(const char* name, const char* cat, int event_type,
                                                 int type) DFTRACER_NOEXCEPT_;
void dftracer_region_end_exception(struct DFTracerData* region) DFTRACER_NOEXCEPT_;
void dftracer_instant(struct dftracer_site* site) DFTRACER_NOEXCEPT_;
void dftracer_metadata(int type, const char* key, const char* value) DFTRACER_NOEXCEPT_;

/* The names of older releases. Define DFTRACER_COMPAT_NAMES to 0 before including this header when they are in the way
 * of your own; the library holds them as weak symbols, so a program's own definition always wins. */
#ifndef DFTRACER_COMPAT_NAMES
#define DFTRACER_COMPAT_NAMES 1
#endif
#if DFTRACER_COMPAT_NAMES
void initialize_main(const char* log_file, const char* data_dirs, int* process_id);
void initialize_no_bind(const char* log_file, const char* data_dirs, int* process_id);
void finalize(void);
struct DFTracerData* initialize_region(const char* name, const char* cat, int event_type);
void finalize_region(struct DFTracerData* region);
void finalize_region_cleanup(struct DFTracerData** region);
void update_metadata_int(struct DFTracerData* region, const char* key, int value);
void update_metadata_string(struct DFTracerData* region, const char* key, const char* value);
void update_metadata_int_type(struct DFTracerData* region, const char* key, int value, int type);
void update_metadata_string_type(struct DFTracerData* region, const char* key, const char* value, int type);
void set_app_metadata_int(const char* key, int value);
void set_app_metadata_string(const char* key, const char* value);
void mark_used(const char* name);
void update_relation(struct DFTracerData* region, int relation, EntityID id);
EntityID update_relation_entity(struct DFTracerData* region, int relation, const char* type, const char* key, int store,
                                const char* uri);
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#include "dftracer/dftracer_macros.h"
#ifdef __cplusplus
extern "C++" { /* also where a C++ program includes this header inside extern "C" */
#include "dftracer/dftracer.hpp"
}
#endif

#endif /* DFTRACER_DFTRACER_H */
