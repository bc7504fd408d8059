// SPDX-License-Identifier: MIT
// Purpose: the keys of each schema as they stand in a line, rendered once: ,"key": and the constants among its fields
//          with their values.
// Threads: one owner. Memory is bounded by the number of schemas and of their fields.
// Invariant: hashes in a text are defined in the file, so it must be cleared together with the strings (StringCache).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/buffer.h"
#include "encode/string_cache.h"
#include "model/definitions.h"

namespace dft::encode {

// The constants in front of a field, and its key. Behind the last field of a schema stands another text, which is empty
// without constants.
struct FieldText {
  char* put(char* p) const {
    std::memcpy(p, text(), 16);  // most keys fit the first copy
    for (std::size_t i = 16; i < size; i += 16) std::memcpy(p + i, text() + i, 16);
    return p + size;
  }
  const char* text() const { return reinterpret_cast<const char*>(this + 1); }
  const FieldText* next() const { return reinterpret_cast<const FieldText*>(text() + padded_size()); }
  std::size_t padded_size() const { return (size + 15) & ~std::size_t{15}; }
  model::ArgType type;
  std::uint8_t reserved[3];
  std::uint32_t size;  // of the text, which follows, padded to 16
};
static_assert(sizeof(FieldText) == 8);

struct SchemaText {
  const FieldText* first() const { return reinterpret_cast<const FieldText*>(this + 1); }
  std::uint32_t fields;  // that are no constants
  std::uint32_t room;    // bytes of all texts
  std::uint64_t has_constants;
};
static_assert(sizeof(SchemaText) % 8 == 0);

class SchemaTexts {
 public:
  SchemaTexts(const model::Definitions& definitions, StringCache& strings)
      : definitions_(definitions), strings_(strings) {}

  // Null when the schema is unknown, no schema that we made (recovered memory is not believed), or memory is refused;
  // or when a hash among its constants is not defined yet (`lacks_definition`). Valid until the next call.
  const SchemaText* find(model::SchemaId id) {
    if (__builtin_expect(!places_.empty() && id <= model::kMaxSchemaId, 1)) {
      const std::uint32_t place = reinterpret_cast<const std::uint32_t*>(places_.data())[id];
      if (__builtin_expect(place != 0, 1)) return reinterpret_cast<const SchemaText*>(arena_.data() + place);
    }
    return render(id);
  }
  bool lacks_definition() const { return lacks_definition_; }  // the last find() that gave null

  void clear();

  void forget() {  // fork child: without unmapping
    places_.forget();
    arena_.forget();
  }

 private:
  const SchemaText* render(model::SchemaId id);
  bool put_fields(SchemaText& made, const model::SchemaView& schema);
  bool put_constant(char*& p, const model::ArgView& field);
  bool prepare();

  const model::Definitions& definitions_;
  StringCache& strings_;
  bool lacks_definition_ = false;
  base::Buffer places_;  // by id: where in the arena, 0: not yet
  base::Buffer arena_;
};

}  // namespace dft::encode
