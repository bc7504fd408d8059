// SPDX-License-Identifier: MIT
// The hot half of the public API: regions, their args, instants. The recorder keeps errno, never throws, and recognises
// pointers that are no open region; what is left here is null checks and the ids of call sites.
#include <cstring>

#include "api/exception_type.h"
#include "api/site.h"
#include "dftracer/dftracer_config.hpp"
#include "session/session.h"

using dft::api::layer_of;
using dft::api::text_of;
namespace record = dft::record;
namespace model = dft::model;

namespace {
record::Region* region_of(DFTracerData* region) { return reinterpret_cast<record::Region*>(region); }
DFTracerData* handle_of(record::Region* region) { return reinterpret_cast<DFTracerData*>(region); }

constexpr std::size_t kLongestLiteralName = 4096;
constexpr std::size_t kLongestKey = 65535;

// Before the region begins: its own calls are to be seen already.
inline void serve() {
#if DFTRACER_HAS_GPU_TRACING
  if (__builtin_expect(__atomic_load_n(&dftracer_on, __ATOMIC_RELAXED) != dft::session::kServiceWanted, 1)) return;
  const dft::api::ErrnoKeeper errno_keeper;
  dft::session::serve_request();
#endif
}
}  // namespace

extern "C" {

DFTracerData* dftracer_region_start(dftracer_site* site) noexcept {
  serve();
  return handle_of(record::open_region(dft::api::id_of(site)));
}

DFTracerData* dftracer_region_start_named(const char* name, const char* cat, int event_type, int type) noexcept {
  serve();
  const model::Layer layer = layer_of(type);
  const std::string_view category = cat != nullptr                   ? cat
                                    : layer == model::Layer::kCppApp ? model::kCategoryCpp
                                                                     : model::kCategoryC;
  const model::SiteId site = record::site_id(text_of(name), category, layer);
  return handle_of(record::open_region(site, event_type == DF_METADATA_EVENT));
}

DFTracerData* dftracer_initialize_region(const char* name, const char* cat, int event_type) noexcept {
  if (!DFTRACER_IS_ON_()) return nullptr;
  return dftracer_region_start_named(name, cat, event_type, DFTRACER_TYPE_C_APP);
}

void dftracer_finalize_region(DFTracerData* region) noexcept { record::close_region(region_of(region)); }

void dftracer_finalize_region_cleanup(DFTracerData** region) noexcept {
  if (region == nullptr) return;
  record::close_region(region_of(*region));
  *region = nullptr;
}

void dftracer_region_end_exception(DFTracerData* region) noexcept {
  if (record::is_open(region_of(region))) {
    const dft::api::ErrnoKeeper errno_keeper;
    dft::api::TypeName name;
    dft::api::exception_in_flight(name);
    record::add_string(region_of(region), "exception", name.view());
  }
  record::close_region(region_of(region));
}

void dftracer_region_update_int64(DFTracerData* region, const char* key, int64_t value) noexcept {
  if (key != nullptr) record::add_int64(region_of(region), key, value);
}

void dftracer_region_update_uint64(DFTracerData* region, const char* key, uint64_t value) noexcept {
  if (key != nullptr) record::add_uint64(region_of(region), key, value);
}

void dftracer_region_update_double(DFTracerData* region, const char* key, double value) noexcept {
  if (key != nullptr) record::add_double(region_of(region), key, value);
}

void dftracer_region_update_bool(DFTracerData* region, const char* key, int value) noexcept {
  if (key != nullptr) record::add_bool(region_of(region), key, value != 0);
}

void dftracer_region_update_str(DFTracerData* region, const char* key, const char* value) noexcept {
  if (key != nullptr && value != nullptr) record::add_string(region_of(region), key, value);
}

void dftracer_region_update_strn(DFTracerData* region, const char* key, const char* value, size_t length) noexcept {
  if (key != nullptr && (value != nullptr || length == 0)) {
    record::add_string(region_of(region), key, std::string_view(value, length));
  }
}

void dftracer_region_update_word(DFTracerData* region, uint64_t key_word, uint32_t key_length, int kind,
                                 uint64_t bits) noexcept {
  record::add_word(region_of(region), {static_cast<model::ArgType>(kind), key_word, key_length}, bits);
}

void dftracer_region_update_word_str(DFTracerData* region, uint64_t key_word, uint32_t key_length, const char* value,
                                     size_t length) noexcept {
  if (value == nullptr && length != 0) return;
  record::add_text(region_of(region), {model::ArgType::kString, key_word, key_length}, value, length);
}

// The kind of an arg matters to aggregation only, which this version does not have: every kind is recorded.
void dftracer_update_metadata_int_type(DFTracerData* region, const char* key, int value, int) noexcept {
  dftracer_region_update_int64(region, key, value);
}

void dftracer_update_metadata_string_type(DFTracerData* region, const char* key, const char* value, int) noexcept {
  dftracer_region_update_str(region, key, value);
}

void dftracer_update_metadata_int(DFTracerData* region, const char* key, int value) noexcept {
  dftracer_region_update_int64(region, key, value);
}

void dftracer_update_metadata_string(DFTracerData* region, const char* key, const char* value) noexcept {
  dftracer_region_update_str(region, key, value);
}

uint32_t dftracer_site_id(const char* name, size_t name_length, const char* cat, size_t cat_length, int type) noexcept {
  if ((name == nullptr && name_length != 0) || (cat == nullptr && cat_length != 0)) return 0;
  return record::site_id({name, name_length}, {cat, cat_length}, layer_of(type));
}

void dftracer_region_update_bits(DFTracerData* region, const char* key, size_t key_length, int kind,
                                 uint64_t bits) noexcept {
  if (key == nullptr || key_length > kLongestKey) return;
  const std::string_view name(key, key_length);
  double real;
  std::memcpy(&real, &bits, sizeof real);
  switch (kind) {
    case 1: return record::add_int64(region_of(region), name, static_cast<int64_t>(bits));
    case 2: return record::add_uint64(region_of(region), name, bits);
    case 3: return record::add_double(region_of(region), name, real);
    case 4: return record::add_bool(region_of(region), name, bits != 0);
    default: return;
  }
}

void dftracer_region_update_bytes(DFTracerData* region, const char* key, size_t key_length, const char* value,
                                  size_t length) noexcept {
  if (key == nullptr || key_length > kLongestKey || (value == nullptr && length != 0)) return;
  record::add_string(region_of(region), {key, key_length}, {value, length});
}

void dftracer_region_end_at(DFTracerData* region, TimeResolution start, TimeResolution duration) noexcept {
  const uint64_t unit = dft::session::unit_ns();
  const uint64_t begin = start > UINT64_MAX / unit ? UINT64_MAX : start * unit;
  const uint64_t length = duration > (UINT64_MAX - begin) / unit ? UINT64_MAX - begin : duration * unit;
  record::close_region_at(region_of(region), begin, begin + length);
}

void dftracer_region_end_instant(DFTracerData* region) noexcept { record::close_as_instant(region_of(region)); }

void dftracer_region_drop(DFTracerData* region) noexcept { record::drop_region(region_of(region)); }

void dftracer_instant(dftracer_site* site) noexcept {
  model::SiteId id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);
  if (id == 0) {
    char name[kLongestLiteralName];
    id = dft::api::resolve(site, dft::api::instant_name(site->name, name, sizeof name));
  }
  record::emit_instant(id, {});
}

void dftracer_metadata(int type, const char* key, const char* value) noexcept {
  if (key == nullptr) return;
  record::Region* region =
      record::open_region(record::site_id(model::kKeyValue, model::kCategoryDftracer, layer_of(type)));
  record::add_string(region, "name", key);
  record::add_string(region, "value", text_of(value));
  record::close_as_metadata(region);
}

DFT_WEAK_ALIAS(initialize_region) DFTracerData* initialize_region(const char*, const char*, int);
DFT_WEAK_ALIAS(finalize_region) void finalize_region(DFTracerData*);
DFT_WEAK_ALIAS(finalize_region_cleanup) void finalize_region_cleanup(DFTracerData**);
DFT_WEAK_ALIAS(update_metadata_int) void update_metadata_int(DFTracerData*, const char*, int);
DFT_WEAK_ALIAS(update_metadata_string) void update_metadata_string(DFTracerData*, const char*, const char*);
DFT_WEAK_ALIAS(update_metadata_int_type)
void update_metadata_int_type(DFTracerData*, const char*, int, int);
DFT_WEAK_ALIAS(update_metadata_string_type)
void update_metadata_string_type(DFTracerData*, const char*, const char*, int);

}  // extern "C"
