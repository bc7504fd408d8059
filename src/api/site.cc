// SPDX-License-Identifier: MIT
#include "api/site.h"

namespace dft::api {

model::SiteId resolve(dftracer_site* site, std::string_view name) {
  const model::SiteId id = record::site_id(name, text_of(site->cat), layer_of(site->type));
  __atomic_store_n(&site->id, id, __ATOMIC_RELAXED);
  return id;
}

namespace {
char unescaped(char c) {
  switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    default: return c;
  }
}
}  // namespace

std::string_view instant_name(const char* spelled, char* out, std::size_t capacity) {
  const std::string_view text = text_of(spelled);
  if (text.empty() || text.front() != '"') return text;
  std::size_t size = 0;
  bool inside = false;  // adjacent literals are one name
  for (std::size_t i = 0; i < text.size() && size < capacity; ++i) {
    if (text[i] == '"') {
      inside = !inside;
    } else if (inside) {
      const bool escape = text[i] == '\\' && i + 1 < text.size();
      out[size++] = escape ? unescaped(text[++i]) : text[i];
    }
  }
  return {out, size};
}

}  // namespace dft::api
