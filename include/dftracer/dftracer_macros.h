/* SPDX-License-Identifier: MIT
 *
 * Purpose: the C macros, and the inline halves of them that keep an untraced program free of calls. Included by
 *          dftracer.h.
 * Rules:   a START macro declares variables, so it stands where a declaration may stand; every other macro is one
 *          statement or one value, also under an `if` without braces. Arguments are evaluated once, on or off.
 */
#ifndef DFTRACER_DFTRACER_H
#include "dftracer/dftracer.h" /* which includes this header in its place */
#elif !defined(DFTRACER_DFTRACER_MACROS_H)
#define DFTRACER_DFTRACER_MACROS_H

/* In C, an inline function with external linkage may call no static one. gnu_inline: inlined or nothing. */
#if defined(__GNUC__) && !defined(__cplusplus)
#define DFTRACER_INLINE_ extern inline __attribute__((gnu_inline, always_inline, unused))
#define DFTRACER_UNUSED_VARIABLE_ __attribute__((unused))
#elif defined(__GNUC__)
#define DFTRACER_INLINE_ static inline __attribute__((always_inline, unused))
#define DFTRACER_UNUSED_VARIABLE_ __attribute__((unused))
#else
#define DFTRACER_INLINE_ static inline
#define DFTRACER_UNUSED_VARIABLE_
#endif

#ifndef DFTRACER_DISABLE

#include "dftracer/dftracer_site.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
/* Ends the region when its scope is left in any way. */
#define DFTRACER_C_REGION_CLEANUP __attribute__((cleanup(dftracer_inline_end)))
#define DFTRACER_IS_ON_() __builtin_expect(__atomic_load_n(&dftracer_on, __ATOMIC_RELAXED) != 0, 0)
#else
#define DFTRACER_C_REGION_CLEANUP
#define DFTRACER_IS_ON_() (dftracer_on != 0)
#endif

#ifdef __cplusplus
#define DFTRACER_CAST_(type, value) static_cast<type>(value)
#define DFTRACER_NULL_ nullptr
#else
#define DFTRACER_CAST_(type, value) ((type)(value))
#define DFTRACER_NULL_ NULL
#endif

DFTRACER_INLINE_ struct DFTracerData* dftracer_inline_start(struct dftracer_site* site) {
  return DFTRACER_IS_ON_() ? dftracer_region_start(site) : DFTRACER_NULL_;
}
DFTRACER_INLINE_ void dftracer_inline_end(struct DFTracerData** region) {
  if (*region) dftracer_finalize_region(*region);
  *region = DFTRACER_NULL_;
}
/* A literal key of 1 to 8 bytes is made a word by the compiler, so that the library neither measures nor copies it. */
#if defined(__GNUC__) && defined(__OPTIMIZE__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define DFTRACER_SHORT_KEY_(key) ((key) && __builtin_constant_p(__builtin_strlen(key)) && __builtin_strlen(key) - 1 < 8)
DFTRACER_INLINE_ uint32_t dftracer_inline_length(const char* key) {
  return DFTRACER_CAST_(uint32_t, __builtin_strlen(key));
}
#else
#define DFTRACER_SHORT_KEY_(key) 0
DFTRACER_INLINE_ uint32_t dftracer_inline_length(const char* key) {
  (void)key;
  return 0;
}
#endif
DFTRACER_INLINE_ uint64_t dftracer_inline_byte(const char* key, uint32_t length, uint32_t at) {
  return at < length ? DFTRACER_CAST_(uint64_t, DFTRACER_CAST_(unsigned char, key[at])) << (8 * at) : 0;
}
DFTRACER_INLINE_ uint64_t dftracer_inline_word(const char* key, uint32_t length) {
  return dftracer_inline_byte(key, length, 0) | dftracer_inline_byte(key, length, 1) |
         dftracer_inline_byte(key, length, 2) | dftracer_inline_byte(key, length, 3) |
         dftracer_inline_byte(key, length, 4) | dftracer_inline_byte(key, length, 5) |
         dftracer_inline_byte(key, length, 6) | dftracer_inline_byte(key, length, 7);
}
DFTRACER_INLINE_ void dftracer_inline_bits(struct DFTracerData* region, const char* key, int kind, uint64_t bits) {
  const uint32_t length = dftracer_inline_length(key);
  dftracer_region_update_word(region, dftracer_inline_word(key, length), length, kind, bits);
}
DFTRACER_INLINE_ void dftracer_inline_int64(struct DFTracerData* region, const char* key, int64_t value) {
  if (!region) return;
  if (DFTRACER_SHORT_KEY_(key)) {
    dftracer_inline_bits(region, key, 1, DFTRACER_CAST_(uint64_t, value));
  } else {
    dftracer_region_update_int64(region, key, value);
  }
}
DFTRACER_INLINE_ void dftracer_inline_int64_type(struct DFTracerData* region, const char* key, int64_t value,
                                                 int type) {
  (void)type;
  dftracer_inline_int64(region, key, value);
}
DFTRACER_INLINE_ void dftracer_inline_uint64(struct DFTracerData* region, const char* key, uint64_t value) {
  if (!region) return;
  if (DFTRACER_SHORT_KEY_(key)) {
    dftracer_inline_bits(region, key, 2, value);
  } else {
    dftracer_region_update_uint64(region, key, value);
  }
}
DFTRACER_INLINE_ void dftracer_inline_double(struct DFTracerData* region, const char* key, double value) {
  if (!region) return;
  if (DFTRACER_SHORT_KEY_(key)) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    dftracer_inline_bits(region, key, 3, bits);
  } else {
    dftracer_region_update_double(region, key, value);
  }
}
DFTRACER_INLINE_ void dftracer_inline_bool(struct DFTracerData* region, const char* key, int value) {
  if (!region) return;
  if (DFTRACER_SHORT_KEY_(key)) {
    dftracer_inline_bits(region, key, 4, value ? 1 : 0);
  } else {
    dftracer_region_update_bool(region, key, value);
  }
}
DFTRACER_INLINE_ void dftracer_inline_strn(struct DFTracerData* region, const char* key, const char* value,
                                           size_t value_length) {
  if (!region) return;
  if (DFTRACER_SHORT_KEY_(key)) {
    const uint32_t length = dftracer_inline_length(key);
    dftracer_region_update_word_str(region, dftracer_inline_word(key, length), length, value, value_length);
  } else {
    dftracer_region_update_strn(region, key, value, value_length);
  }
}
DFTRACER_INLINE_ void dftracer_inline_str(struct DFTracerData* region, const char* key, const char* value) {
  if (region && value) dftracer_inline_strn(region, key, value, strlen(value));
}
DFTRACER_INLINE_ void dftracer_inline_str_type(struct DFTracerData* region, const char* key, const char* value,
                                               int type) {
  (void)type;
  dftracer_inline_str(region, key, value);
}
DFTRACER_INLINE_ void dftracer_inline_relate(struct DFTracerData* region, int relation, EntityID id) {
  if (region) dftracer_update_relation(region, relation, id);
}
DFTRACER_INLINE_ EntityID dftracer_inline_relate_entity(struct DFTracerData* region, int relation, const char* type,
                                                        const char* key, int store, const char* uri) {
  return region ? dftracer_update_relation_entity(region, relation, type, key, store, uri) : 0;
}
DFTRACER_INLINE_ void dftracer_inline_instant(struct dftracer_site* site) {
  if (DFTRACER_IS_ON_()) dftracer_instant(site);
}
DFTRACER_INLINE_ void dftracer_inline_metadata(int type, const char* key, const char* value) {
  if (DFTRACER_IS_ON_()) dftracer_metadata(type, key, value);
}
DFTRACER_INLINE_ EntityID dftracer_inline_entity(const char* type, const char* key, int store, const char* uri) {
  return DFTRACER_IS_ON_() ? dftracer_declare_entity(type, key, store, uri) : 0;
}
DFTRACER_INLINE_ void dftracer_inline_entity_type(const char* type, int role, const char* description) {
  if (DFTRACER_IS_ON_()) dftracer_declare_entity_type(type, role, description);
}
DFTRACER_INLINE_ void dftracer_inline_entity_relate(int relation, EntityID subject, EntityID object) {
  if (DFTRACER_IS_ON_()) dftracer_relate_entities(relation, subject, object);
}
DFTRACER_INLINE_ void dftracer_inline_init(const char* log_file, const char* data_dirs, int* process_id, int bind,
                                           const char* layer) {
  if (bind) {
    dftracer_initialize_main(log_file, data_dirs, process_id);
  } else {
    dftracer_initialize_no_bind(log_file, data_dirs, process_id);
  }
  dftracer_mark_used(layer);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

/* Life of the tracer. */
#define DFTRACER_C_INIT(log_file, data_dirs, process_id) \
  dftracer_inline_init(log_file, data_dirs, process_id, 1, C_LOG_CATEGORY)
#define DFTRACER_C_INIT_NO_BIND(log_file, data_dirs, process_id) \
  dftracer_inline_init(log_file, data_dirs, process_id, 0, C_LOG_CATEGORY)
#define DFTRACER_C_FINI() dftracer_finalize()

/* Regions: the function, in the variable data_fn, or a named one in the variable data_<name>. */
#define DFTRACER_C_FUNCTION_START()             \
  DFTRACER_C_SITE_(dftracer_site_fn, __func__); \
  struct DFTracerData* data_fn DFTRACER_C_REGION_CLEANUP = dftracer_inline_start(&dftracer_site_fn)
#define DFTRACER_C_FUNCTION_END() dftracer_inline_end(&data_fn)
#define DFTRACER_C_REGION_START(name)            \
  DFTRACER_C_SITE_(dftracer_site_##name, #name); \
  struct DFTracerData* data_##name DFTRACER_C_REGION_CLEANUP = dftracer_inline_start(&dftracer_site_##name)
#define DFTRACER_C_REGION_END(name) dftracer_inline_end(&data_##name)

/* Something that happens at one moment. The name is a token or a string literal. */
#define DFTRACER_C_INSTANT(name)                      \
  do {                                                \
    DFTRACER_C_SITE_(dftracer_site_instant_, #name);  \
    dftracer_inline_instant(&dftracer_site_instant_); \
  } while (0)

/* Args of regions. _INT takes any integer and keeps 64 bits; BOOL is written 0 or 1. */
#define DFTRACER_C_FUNCTION_UPDATE_INT(key, val) dftracer_inline_int64(data_fn, key, val)
#define DFTRACER_C_FUNCTION_UPDATE_STR(key, val) dftracer_inline_str(data_fn, key, val)
#define DFTRACER_C_FUNCTION_UPDATE_INT_TYPE(key, val, type) dftracer_inline_int64_type(data_fn, key, val, type)
#define DFTRACER_C_FUNCTION_UPDATE_STR_TYPE(key, val, type) dftracer_inline_str_type(data_fn, key, val, type)
#define DFTRACER_C_FUNCTION_UPDATE_INT64(key, val) dftracer_inline_int64(data_fn, key, val)
#define DFTRACER_C_FUNCTION_UPDATE_UINT64(key, val) dftracer_inline_uint64(data_fn, key, val)
#define DFTRACER_C_FUNCTION_UPDATE_DOUBLE(key, val) dftracer_inline_double(data_fn, key, val)
#define DFTRACER_C_FUNCTION_UPDATE_BOOL(key, val) dftracer_inline_bool(data_fn, key, (val) ? 1 : 0)
#define DFTRACER_C_REGION_UPDATE_INT(name, key, val) dftracer_inline_int64(data_##name, key, val)
#define DFTRACER_C_REGION_UPDATE_STR(name, key, val) dftracer_inline_str(data_##name, key, val)
#define DFTRACER_C_REGION_UPDATE_INT_TYPE(name, key, val, type) dftracer_inline_int64_type(data_##name, key, val, type)
#define DFTRACER_C_REGION_UPDATE_STR_TYPE(name, key, val, type) dftracer_inline_str_type(data_##name, key, val, type)
#define DFTRACER_C_REGION_UPDATE_INT64(name, key, val) dftracer_inline_int64(data_##name, key, val)
#define DFTRACER_C_REGION_UPDATE_UINT64(name, key, val) dftracer_inline_uint64(data_##name, key, val)
#define DFTRACER_C_REGION_UPDATE_DOUBLE(name, key, val) dftracer_inline_double(data_##name, key, val)
#define DFTRACER_C_REGION_UPDATE_BOOL(name, key, val) dftracer_inline_bool(data_##name, key, (val) ? 1 : 0)

/* Notes: a key and a string of their own record (`name` is free), or of the whole process. */
#define DFTRACER_C_METADATA(name, key, val) dftracer_inline_metadata(DFTRACER_TYPE_C_APP, key, val)
#define DFTRACER_C_APP_METADATA_INT(key, val) dftracer_set_app_metadata_int(key, val)
#define DFTRACER_C_APP_METADATA_STR(key, val) dftracer_set_app_metadata_string(key, val)
#define DFTRACER_C_MARK_USED(name) dftracer_mark_used(name)

/* Entities. DFTRACER_C_ENTITY, _USES and _GENERATES have the entity's id as value. */
#define DFTRACER_C_ENTITY(type, key, store, uri) dftracer_inline_entity(type, key, store, uri)
#define DFTRACER_C_ENTITY_TYPE(type, role, description) dftracer_inline_entity_type(type, role, description)
#define DFTRACER_C_ENTITY_RELATE(relation, subject, object) dftracer_inline_entity_relate(relation, subject, object)
#define DFTRACER_C_FUNCTION_RELATE(relation, id) dftracer_inline_relate(data_fn, relation, id)
#define DFTRACER_C_FUNCTION_USES(type, key) \
  dftracer_inline_relate_entity(data_fn, DFT_REL_USED, type, key, DFT_STORE_MEMORY, DFTRACER_NULL_)
#define DFTRACER_C_FUNCTION_GENERATES(type, key) \
  dftracer_inline_relate_entity(data_fn, DFT_REL_GENERATED, type, key, DFT_STORE_MEMORY, DFTRACER_NULL_)
#define DFTRACER_C_REGION_RELATE(name, relation, id) dftracer_inline_relate(data_##name, relation, id)

#else /* DFTRACER_DISABLE: arguments are compiled, so that variables count as used, and never evaluated. */

DFTRACER_INLINE_ EntityID dftracer_no_entity(void) { return 0; }

#define DFTRACER_UNUSED1_(a) \
  do {                       \
    if (0) (void)(a);        \
  } while (0)
#define DFTRACER_UNUSED2_(a, b) \
  do {                          \
    if (0) {                    \
      (void)(a);                \
      (void)(b);                \
    }                           \
  } while (0)
#define DFTRACER_UNUSED3_(a, b, c) \
  do {                             \
    if (0) {                       \
      (void)(a);                   \
      (void)(b);                   \
      (void)(c);                   \
    }                              \
  } while (0)
#define DFTRACER_NO_ENTITY_(a, b) (0 ? ((void)(a), (void)(b), dftracer_no_entity()) : dftracer_no_entity())
#define DFTRACER_NO_ENTITY4_(a, b, c, d) \
  (0 ? ((void)(a), (void)(b), (void)(c), (void)(d), dftracer_no_entity()) : dftracer_no_entity())

#define DFTRACER_C_REGION_CLEANUP
#define DFTRACER_C_INIT(log_file, data_dirs, process_id) DFTRACER_UNUSED3_(log_file, data_dirs, process_id)
#define DFTRACER_C_INIT_NO_BIND(log_file, data_dirs, process_id) DFTRACER_UNUSED3_(log_file, data_dirs, process_id)
#define DFTRACER_C_FINI() ((void)0)
#define DFTRACER_C_FUNCTION_START() ((void)0)
#define DFTRACER_C_FUNCTION_END() ((void)0)
#define DFTRACER_C_REGION_START(name) ((void)0)
#define DFTRACER_C_REGION_END(name) ((void)0)
#define DFTRACER_C_INSTANT(name) ((void)0)
#define DFTRACER_C_FUNCTION_UPDATE_INT(key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_C_FUNCTION_UPDATE_STR(key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_C_FUNCTION_UPDATE_INT_TYPE(key, val, type) DFTRACER_UNUSED3_(key, val, type)
#define DFTRACER_C_FUNCTION_UPDATE_STR_TYPE(key, val, type) DFTRACER_UNUSED3_(key, val, type)
#define DFTRACER_C_FUNCTION_UPDATE_INT64(key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_C_FUNCTION_UPDATE_UINT64(key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_C_FUNCTION_UPDATE_DOUBLE(key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_C_FUNCTION_UPDATE_BOOL(key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_C_REGION_UPDATE_INT(name, key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_C_REGION_UPDATE_STR(name, key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_C_REGION_UPDATE_INT_TYPE(name, key, val, type) DFTRACER_UNUSED3_(key, val, type)
#define DFTRACER_C_REGION_UPDATE_STR_TYPE(name, key, val, type) DFTRACER_UNUSED3_(key, val, type)
#define DFTRACER_C_REGION_UPDATE_INT64(name, key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_C_REGION_UPDATE_UINT64(name, key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_C_REGION_UPDATE_DOUBLE(name, key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_C_REGION_UPDATE_BOOL(name, key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_C_METADATA(name, key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_C_APP_METADATA_INT(key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_C_APP_METADATA_STR(key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_C_MARK_USED(name) DFTRACER_UNUSED1_(name)
#define DFTRACER_C_ENTITY(type, key, store, uri) DFTRACER_NO_ENTITY4_(type, key, store, uri)
#define DFTRACER_C_ENTITY_TYPE(type, role, description) DFTRACER_UNUSED3_(type, role, description)
#define DFTRACER_C_ENTITY_RELATE(relation, subject, object) DFTRACER_UNUSED3_(relation, subject, object)
#define DFTRACER_C_FUNCTION_RELATE(relation, id) DFTRACER_UNUSED2_(relation, id)
#define DFTRACER_C_FUNCTION_USES(type, key) DFTRACER_NO_ENTITY_(type, key)
#define DFTRACER_C_FUNCTION_GENERATES(type, key) DFTRACER_NO_ENTITY_(type, key)
#define DFTRACER_C_REGION_RELATE(name, relation, id) DFTRACER_UNUSED2_(relation, id)

#endif /* DFTRACER_DISABLE */

#endif /* DFTRACER_DFTRACER_MACROS_H */
