// SPDX-License-Identifier: MIT
//
// Purpose: the public C++ API of DFTracer, C++11 and newer: the class DFTracer, whose life is a region, and the
//          DFTRACER_CPP_* macros. Part of dftracer.h; may be included by itself.
// Threads: as in dftracer.h. One DFTracer object is used by one thread at a time; another thread may destroy it.
// Errors:  nothing throws. A region that an exception leaves gets the arg `exception`: the name of its type.
// See:     docs/api.md
#ifndef DFTRACER_DFTRACER_HPP
#define DFTRACER_DFTRACER_HPP

#include "dftracer/dftracer.h"

#ifndef __cplusplus
#error "dftracer/dftracer.hpp is for C++; C programs include dftracer/dftracer.h"
#endif

#include <exception>
#include <string>
#if __cplusplus >= 201703L
#include <string_view>
#endif
#if defined(__GLIBCXX__)
#include <cxxabi.h>
#endif

#ifndef DFTRACER_DISABLE

// The two inline namespaces keep objects compiled with and without DFTRACER_DISABLE apart when they are linked
// together.
inline namespace dftracer_enabled {

// How many exceptions are on their way in this thread.
static inline int dftracer_uncaught_exceptions() noexcept {
#if defined(__GLIBCXX__)
  // Also for C++11, which lacks std::uncaught_exceptions: the second member of the structure that the C++ ABI defines.
  struct Globals {
    void* caught;
    unsigned int uncaught;
  };
  return static_cast<int>(reinterpret_cast<const Globals*>(abi::__cxa_get_globals())->uncaught);
#elif __cplusplus >= 201703L
  return std::uncaught_exceptions();
#else
  return std::uncaught_exception() ? 1 : 0;
#endif
}

class DFTracer {
 public:
  // A region from here to finalize() or the end of the object's life. The names are copied; null is "".
  DFTracer(const char* name, const char* cat, int event_type = DF_DATA_EVENT, int type = DFTRACER_TYPE_CPP_APP) noexcept
      : region_(DFTRACER_IS_ON_() ? dftracer_region_start_named(name, cat, event_type, type) : nullptr),
        uncaught_(region_ ? dftracer_uncaught_exceptions() : 0) {}
  DFTracer(const std::string& name, const std::string& cat, int event_type = DF_DATA_EVENT,
           int type = DFTRACER_TYPE_CPP_APP) noexcept
      : DFTracer(name.c_str(), cat.c_str(), event_type, type) {}
  explicit DFTracer(dftracer_site* site) noexcept
      : region_(DFTRACER_IS_ON_() ? dftracer_region_start(site) : nullptr),
        uncaught_(region_ ? dftracer_uncaught_exceptions() : 0) {}
  ~DFTracer() {
    if (region_) end();
  }
  DFTracer(const DFTracer&) = delete;
  DFTracer& operator=(const DFTracer&) = delete;

  // Ends the region now. Later calls do nothing.
  void finalize() noexcept {
    if (region_) dftracer_finalize_region(region_);
    region_ = nullptr;
  }

  // Args; the last value of a key stays.
  void update(const char* key, bool value, MetadataType = MT_KEY) noexcept {
    dftracer_inline_bool(region_, key, value ? 1 : 0);
  }
  void update(const char* key, int value, MetadataType = MT_KEY) noexcept { add_signed(key, value); }
  void update(const char* key, long value, MetadataType = MT_KEY) noexcept { add_signed(key, value); }
  void update(const char* key, long long value, MetadataType = MT_KEY) noexcept { add_signed(key, value); }
  void update(const char* key, unsigned value, MetadataType = MT_KEY) noexcept { add_unsigned(key, value); }
  void update(const char* key, unsigned long value, MetadataType = MT_KEY) noexcept { add_unsigned(key, value); }
  void update(const char* key, unsigned long long value, MetadataType = MT_KEY) noexcept { add_unsigned(key, value); }
  void update(const char* key, double value, MetadataType = MT_KEY) noexcept {
    dftracer_inline_double(region_, key, value);
  }
  void update(const char* key, long double value, MetadataType = MT_KEY) noexcept {
    update(key, static_cast<double>(value));
  }
  void update(const char* key, const char* value, MetadataType = MT_KEY) noexcept {
    dftracer_inline_str(region_, key, value);
  }
  void update(const char* key, const std::string& value, MetadataType = MT_KEY) noexcept {
    dftracer_inline_strn(region_, key, value.data(), value.size());
  }
#if __cplusplus >= 201703L
  void update(const char* key, std::string_view value, MetadataType = MT_KEY) noexcept {
    dftracer_inline_strn(region_, key, value.data(), value.size());
  }
#endif

  // Relations to entities; the second form declares the entity as well and returns its id (0 when off).
  void relate(int relation, EntityID id) noexcept {
    if (region_) dftracer_update_relation(region_, relation, id);
  }
  EntityID relate(int relation, const char* type, const char* key, int store = DFT_STORE_MEMORY,
                  const char* uri = nullptr) noexcept {
    return region_ ? dftracer_update_relation_entity(region_, relation, type, key, store, uri) : 0;
  }
  EntityID uses(const char* type, const char* key, int store = DFT_STORE_MEMORY, const char* uri = nullptr) noexcept {
    return relate(DFT_REL_USED, type, key, store, uri);
  }
  EntityID generates(const char* type, const char* key, int store = DFT_STORE_MEMORY,
                     const char* uri = nullptr) noexcept {
    return relate(DFT_REL_GENERATED, type, key, store, uri);
  }

 private:
  void add_signed(const char* key, int64_t value) noexcept { dftracer_inline_int64(region_, key, value); }
  void add_unsigned(const char* key, uint64_t value) noexcept { dftracer_inline_uint64(region_, key, value); }
  void end() noexcept {
    if (dftracer_uncaught_exceptions() > uncaught_) {
      dftracer_region_end_exception(region_);
    } else {
      dftracer_finalize_region(region_);
    }
  }

  DFTracerData* region_;
  int uncaught_;  // when the region began: more of them at its end mean that an exception ends it
};

}  // namespace dftracer_enabled

#define DFTRACER_CPP_SITE_(variable, name) \
  static ::dftracer_site variable = {name, CPP_LOG_CATEGORY, DFTRACER_TYPE_CPP_APP, 0}

// Life of the tracer.
#define DFTRACER_CPP_INIT(log_file, data_dirs, process_id) \
  dftracer_inline_init(log_file, data_dirs, process_id, 1, CPP_LOG_CATEGORY)
#define DFTRACER_CPP_INIT_NO_BIND(log_file, data_dirs, process_id) \
  dftracer_inline_init(log_file, data_dirs, process_id, 0, CPP_LOG_CATEGORY)
#define DFTRACER_CPP_FINI() dftracer_finalize()

// Regions from here to the end of the scope.
#define DFTRACER_CPP_FUNCTION()                           \
  DFTRACER_CPP_SITE_(dftracer_site_dft_fn, __FUNCTION__); \
  ::DFTracer profiler_dft_fn(&dftracer_site_dft_fn)
#define DFTRACER_CPP_REGION(name)                      \
  DFTRACER_CPP_SITE_(dftracer_site_cpp_##name, #name); \
  ::DFTracer profiler_##name(&dftracer_site_cpp_##name)
// Regions from START to END in one scope, or to the end of that scope when END is not reached. profiler_<name> is a
// pointer, as the _DYN_ macros expect.
#define DFTRACER_CPP_REGION_START(name)                         \
  DFTRACER_CPP_SITE_(dftracer_site_cpp_##name, #name);          \
  ::DFTracer dftracer_region_##name(&dftracer_site_cpp_##name); \
  ::DFTracer* const profiler_##name DFTRACER_UNUSED_VARIABLE_ = &dftracer_region_##name
#define DFTRACER_CPP_REGION_END(name) profiler_##name->finalize()

// Something that happens at one moment. The name is a token or a string literal.
#define DFTRACER_CPP_INSTANT(name)                         \
  do {                                                     \
    DFTRACER_CPP_SITE_(dftracer_site_cpp_instant_, #name); \
    dftracer_inline_instant(&dftracer_site_cpp_instant_);  \
  } while (0)

// Args.
#define DFTRACER_CPP_FUNCTION_UPDATE(key, val) profiler_dft_fn.update(key, val)
#define DFTRACER_CPP_FUNCTION_UPDATE_TYPE(key, val, type) profiler_dft_fn.update(key, val, type)
#define DFTRACER_CPP_REGION_UPDATE(name, key, val) profiler_##name.update(key, val)
#define DFTRACER_CPP_REGION_UPDATE_TYPE(name, key, val, type) profiler_##name.update(key, val, type)
#define DFTRACER_CPP_REGION_DYN_UPDATE(name, key, val) profiler_##name->update(key, val)
#define DFTRACER_CPP_REGION_DYN_UPDATE_TYPE(name, key, val, type) profiler_##name->update(key, val, type)

// Notes: a key and a string of their own record (`name` is free), or of the whole process.
#define DFTRACER_CPP_METADATA(name, key, value) dftracer_inline_metadata(DFTRACER_TYPE_CPP_APP, key, value)
#define DFTRACER_CPP_APP_METADATA_INT(key, val) dftracer_set_app_metadata_int(key, val)
#define DFTRACER_CPP_APP_METADATA_STR(key, val) dftracer_set_app_metadata_string(key, val)
#define DFTRACER_CPP_MARK_USED(name) dftracer_mark_used(name)

// Entities. _ENTITY, _USES and _GENERATES have the entity's id as value.
#define DFTRACER_CPP_ENTITY(type, key, store, uri) dftracer_inline_entity(type, key, store, uri)
#define DFTRACER_CPP_ENTITY_TYPE(type, role, description) dftracer_inline_entity_type(type, role, description)
#define DFTRACER_CPP_ENTITY_RELATE(relation, subject, object) dftracer_inline_entity_relate(relation, subject, object)
#define DFTRACER_CPP_FUNCTION_RELATE(relation, id) profiler_dft_fn.relate(relation, id)
#define DFTRACER_CPP_FUNCTION_USES(type, key) profiler_dft_fn.uses(type, key)
#define DFTRACER_CPP_FUNCTION_GENERATES(type, key) profiler_dft_fn.generates(type, key)
#define DFTRACER_CPP_REGION_RELATE(name, relation, id) profiler_##name.relate(relation, id)
#define DFTRACER_CPP_REGION_DYN_RELATE(name, relation, id) profiler_##name->relate(relation, id)

#else  // DFTRACER_DISABLE

inline namespace dftracer_disabled {

class DFTracer {
 public:
  DFTracer() = default;  // what the macros declare: no instruction, and code that uses their objects still compiles
  DFTracer(const char*, const char*, int = DF_DATA_EVENT, int = DFTRACER_TYPE_CPP_APP) noexcept {}
  DFTracer(const std::string&, const std::string&, int = DF_DATA_EVENT, int = DFTRACER_TYPE_CPP_APP) noexcept {}
  DFTracer(const DFTracer&) = delete;
  DFTracer& operator=(const DFTracer&) = delete;
  void finalize() noexcept {}
  template <class T>
  void update(const char*, const T&, MetadataType = MT_KEY) noexcept {}
  void relate(int, EntityID) noexcept {}
  EntityID relate(int, const char*, const char*, int = DFT_STORE_MEMORY, const char* = nullptr) noexcept { return 0; }
  EntityID uses(const char*, const char*, int = DFT_STORE_MEMORY, const char* = nullptr) noexcept { return 0; }
  EntityID generates(const char*, const char*, int = DFT_STORE_MEMORY, const char* = nullptr) noexcept { return 0; }
};

}  // namespace dftracer_disabled

#define DFTRACER_CPP_INIT(log_file, data_dirs, process_id) DFTRACER_UNUSED3_(log_file, data_dirs, process_id)
#define DFTRACER_CPP_INIT_NO_BIND(log_file, data_dirs, process_id) DFTRACER_UNUSED3_(log_file, data_dirs, process_id)
#define DFTRACER_CPP_FINI() ((void)0)
#define DFTRACER_CPP_FUNCTION() ::DFTracer profiler_dft_fn DFTRACER_UNUSED_VARIABLE_
#define DFTRACER_CPP_REGION(name) ::DFTracer profiler_##name DFTRACER_UNUSED_VARIABLE_
#define DFTRACER_CPP_REGION_START(name) \
  ::DFTracer dftracer_region_##name;    \
  ::DFTracer* const profiler_##name DFTRACER_UNUSED_VARIABLE_ = &dftracer_region_##name
#define DFTRACER_CPP_REGION_END(name) ((void)0)
#define DFTRACER_CPP_INSTANT(name) ((void)0)
#define DFTRACER_CPP_FUNCTION_UPDATE(key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_CPP_FUNCTION_UPDATE_TYPE(key, val, type) DFTRACER_UNUSED3_(key, val, type)
#define DFTRACER_CPP_REGION_UPDATE(name, key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_CPP_REGION_UPDATE_TYPE(name, key, val, type) DFTRACER_UNUSED3_(key, val, type)
#define DFTRACER_CPP_REGION_DYN_UPDATE(name, key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_CPP_REGION_DYN_UPDATE_TYPE(name, key, val, type) DFTRACER_UNUSED3_(key, val, type)
#define DFTRACER_CPP_METADATA(name, key, value) DFTRACER_UNUSED2_(key, value)
#define DFTRACER_CPP_APP_METADATA_INT(key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_CPP_APP_METADATA_STR(key, val) DFTRACER_UNUSED2_(key, val)
#define DFTRACER_CPP_MARK_USED(name) DFTRACER_UNUSED1_(name)
#define DFTRACER_CPP_ENTITY(type, key, store, uri) DFTRACER_NO_ENTITY4_(type, key, store, uri)
#define DFTRACER_CPP_ENTITY_TYPE(type, role, description) DFTRACER_UNUSED3_(type, role, description)
#define DFTRACER_CPP_ENTITY_RELATE(relation, subject, object) DFTRACER_UNUSED3_(relation, subject, object)
#define DFTRACER_CPP_FUNCTION_RELATE(relation, id) DFTRACER_UNUSED2_(relation, id)
#define DFTRACER_CPP_FUNCTION_USES(type, key) DFTRACER_NO_ENTITY_(type, key)
#define DFTRACER_CPP_FUNCTION_GENERATES(type, key) DFTRACER_NO_ENTITY_(type, key)
#define DFTRACER_CPP_REGION_RELATE(name, relation, id) DFTRACER_UNUSED2_(relation, id)
#define DFTRACER_CPP_REGION_DYN_RELATE(name, relation, id) DFTRACER_UNUSED2_(relation, id)

#endif  // DFTRACER_DISABLE

#endif  // DFTRACER_DFTRACER_HPP
