// SPDX-License-Identifier: MIT
// Purpose: from what the macros pass to the recorder's ids.
// Threads: any; async-signal-safe as far as record::site_id is.
#pragma once

#include <string_view>

#include "api/exports.h"
#include "model/record.h"
#include "model/trace_format.h"
#include "record/emit.h"

namespace dft::api {

// Numbers outside of what a trace can hold become UNKNOWN.
constexpr model::Layer layer_of(int type) {
  return type > 0 && type < 256 ? static_cast<model::Layer>(type) : model::Layer::kUnknown;
}

// Null becomes the empty string.
inline std::string_view text_of(const char* text) {
  return text != nullptr ? std::string_view(text) : std::string_view();
}

// The name that an instant macro means: #name of a token is the name itself, #name of string literals keeps their
// quotes and escapes. Writes at most `capacity` bytes of the latter to `out`.
std::string_view instant_name(const char* spelled, char* out, std::size_t capacity);

// The id of a call site. Resolved once: every thread that comes first finds the same id, so a relaxed store is enough.
[[gnu::noinline, gnu::cold]] model::SiteId resolve(dftracer_site* site, std::string_view name);

inline model::SiteId id_of(dftracer_site* site) {
  const model::SiteId id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);
  if (__builtin_expect(id != 0, 1)) return id;
  return resolve(site, text_of(site->name));
}

}  // namespace dft::api
