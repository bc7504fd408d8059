// SPDX-License-Identifier: MIT
// Purpose: what the ids in records stand for, as the encoder asks for it.
// Threads: implementations must be readable while other threads add definitions.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/record.h"
#include "model/trace_format.h"

namespace dft::model {

struct SiteDef {
  std::string_view name;
  std::string_view cat;
  Layer layer;
};

enum class StringKind : std::uint8_t { kFile = 1, kHost = 2, kString = 3 };  // FH, HH, SH

struct StringDef {
  std::string_view bytes;  // raw, as the application gave it
  StringKind kind;
  char hash[16];  // 16 lower-case hex digits of the raw bytes (base/hash.h)
};

class Definitions {
 public:
  // False when the id is unknown (possible in recovered memory only).
  virtual bool site(SiteId id, SiteDef& out) const = 0;
  virtual bool string(StringId id, StringDef& out) const = 0;
  virtual bool schema(SchemaId id, SchemaView& out) const = 0;

 protected:
  ~Definitions() =
      default;  // never owned through this; a trivial destructor keeps the process-wide one alive past exit()
};

// A cursor over the args of a record of either form. False when its schema is unknown.
inline bool open_args(const RecordHeader& record, const Definitions& definitions, ArgCursor& out) {
  if (record.schema == kSelfDescribing) {
    out = ArgCursor(args_begin(record), args_bytes(record));
    return true;
  }
  SchemaView schema;
  if (record.schema != kNoArgs && !definitions.schema(record.schema, schema)) return false;
  out = ArgCursor(args_begin(record), args_bytes(record), schema);
  return true;
}

}  // namespace dft::model
