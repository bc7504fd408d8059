// SPDX-License-Identifier: MIT
// Entities, their types and relations: EH, ET and ER records, and the relations of events.
#include <algorithm>

#include "api/entity_table.h"
#include "api/site.h"
#include "base/hash.h"
#include "base/raw_io.h"
#include "session/session.h"

namespace record = dft::record;
namespace model = dft::model;
using dft::api::Declaration;
using dft::api::FileKey;
using dft::api::text_of;

namespace {

constexpr std::size_t kLongestType = 31;
constexpr std::size_t kLongestText = 255;  // uri, description
constexpr int kFirstEntityRelation = 16;
constexpr std::string_view kEventRelations[] = {"used", "generated", "invalidated", "updated"};

dft::api::EntityTable table;

// A copy with every char that the format does not allow made `_`, cut to the format's length.
template <std::size_t N>
class Sanitised {
 public:
  explicit Sanitised(std::string_view raw) : size_(std::min(raw.size(), N)) {
    std::transform(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(size_), text_, clean);
  }
  std::string_view view() const { return {text_, size_}; }

 private:
  static char clean(char c) {
    const bool letter_or_digit = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    return letter_or_digit || (c != 0 && std::string_view("_-.:/@+=,~ ").find(c) != std::string_view::npos) ? c : '_';
  }
  char text_[N];
  std::size_t size_;
};

struct HexId {
  explicit HexId(std::uint64_t id) {
    for (int i = 15; i >= 0; --i, id >>= 4) digits[i] = "0123456789abcdef"[id & 15];
  }
  std::string_view view() const { return {digits, sizeof digits}; }
  char digits[16];
};

// Fork and restart change it. What is declared before a file is open belongs to the file that its record opens.
FileKey current_file() {
  const std::uint64_t generation = record::recording() ? dft::session::file_generation() : 0;
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(dft::base::raw::pid())) << 32) | (generation + 1);
}

void emit(std::string_view name, const record::ArgWriter& args) {
  record::emit_metadata(record::site_id(name, model::kCategoryDftracer, model::Layer::kDftracer), args);
}

void write(const Declaration& declaration) {
  record::ArgList<768> args;
  if (declaration.is_type) {
    args.add_string("type", declaration.type);
    args.add_int64("role", declaration.detail);
    args.add_string("description", declaration.text);
    emit(model::kEntityType, args);
  } else {
    args.add_string("id", HexId(declaration.id).view());
    args.add_string("type", declaration.type);
    args.add_int64("store", declaration.detail);
    args.add_string("uri", declaration.text);
    emit(model::kEntity, args);
  }
  table.wrote(declaration.id, declaration.is_type, current_file());
}

std::uint64_t type_id(std::string_view type) { return dft::base::table_hash(type) | 1; }

// An entity's type goes with it into a new file, if it was ever declared.
void write_with_type(const Declaration& declaration) {
  write(declaration);
  Declaration type;
  if (table.use(type_id(declaration.type), true, current_file(), type)) write(type);
}

// An id that was declared in an earlier file is explained in this one too.
void explain(EntityID id) {
  Declaration declaration;
  if (table.use(id, false, current_file(), declaration)) write_with_type(declaration);
}

EntityID declare(const char* type, const char* key, int store, const char* uri) {
  const Sanitised<kLongestType> clean_type(type);
  const Sanitised<kLongestText> clean_uri(text_of(uri));
  const EntityID id = dft::base::entity_id(clean_type.view(), key);
  Declaration first;
  if (table.declare({id, false, store, clean_type.view(), clean_uri.view()}, current_file(), first)) {
    write_with_type(first);
  }
  return id;
}

}  // namespace

extern "C" {

EntityID dftracer_declare_entity(const char* type, const char* key, int store, const char* uri) noexcept {
  if (!DFTRACER_IS_ON_() || type == nullptr || key == nullptr) return 0;
  const dft::api::ErrnoKeeper errno_keeper;
  return declare(type, key, store, uri);
}

EntityID dftracer_entity_id(const char* type, const char* key) noexcept {
  if (type == nullptr || key == nullptr) return 0;
  const Sanitised<kLongestType> clean_type{std::string_view(type)};
  return dft::base::entity_id(clean_type.view(), key);
}

void dftracer_declare_entity_type(const char* type, int role, const char* description) noexcept {
  if (!DFTRACER_IS_ON_() || type == nullptr) return;
  const dft::api::ErrnoKeeper errno_keeper;
  const Sanitised<kLongestType> clean_type{std::string_view(type)};
  const Sanitised<kLongestText> clean_description(text_of(description));
  Declaration first;
  const Declaration declaration{type_id(clean_type.view()), true, role, clean_type.view(), clean_description.view()};
  if (table.declare(declaration, current_file(), first)) write(first);
}

void dftracer_relate_entities(int relation, EntityID subject, EntityID object) noexcept {
  if (!DFTRACER_IS_ON_() || relation < kFirstEntityRelation || subject == 0 || object == 0) return;
  const dft::api::ErrnoKeeper errno_keeper;
  explain(subject);
  explain(object);
  record::ArgList<256> args;
  args.add_int64("relation", relation);
  args.add_string("subject", HexId(subject).view());
  args.add_string("object", HexId(object).view());
  emit(model::kEntityRelation, args);
}

void dftracer_update_relation(DFTracerData* region, int relation, EntityID id) noexcept {
  if (relation < 0 || relation >= static_cast<int>(std::size(kEventRelations)) || id == 0) return;
  auto* open = reinterpret_cast<record::Region*>(region);
  if (!record::is_open(open)) return;
  const dft::api::ErrnoKeeper errno_keeper;
  explain(id);
  record::add_relation(open, kEventRelations[relation], id);
}

EntityID dftracer_update_relation_entity(DFTracerData* region, int relation, const char* type, const char* key,
                                         int store, const char* uri) noexcept {
  const EntityID id = dftracer_declare_entity(type, key, store, uri);
  dftracer_update_relation(region, relation, id);
  return id;
}

DFT_WEAK_ALIAS(update_relation) void update_relation(DFTracerData*, int, EntityID);
DFT_WEAK_ALIAS(update_relation_entity)
EntityID update_relation_entity(DFTracerData*, int, const char*, const char*, int, const char*);

}  // extern "C"
