// SPDX-License-Identifier: MIT
// Purpose: layout of a record, the form in which an event travels from the thread that made it to the encoder.
// Threads: written by the owning thread, read by the drain after the chunk's `committed` was stored with release.
// Invariants:
//   1. Records are 8-byte aligned and `size` is a multiple of 8 that covers header and args.
//   2. No pointer stands in a record: a chunk is decodable in another process (src/model/crash_file.h).
// See: model/args.h for what follows the header.
#pragma once

#include <cstdint>

#include "model/args.h"

namespace dft::model {

using SiteId = std::uint32_t;    // id of a (name, category, layer) triple; 0 = none
using StringId = std::uint32_t;  // id of an interned string with its hash; 0 = none

enum class RecordKind : std::uint8_t {
  kEvent = 1,     // COMPLETE: begin, end, args
  kCounter = 2,   // COUNTER: begin, args
  kMetadata = 3,  // METADATA: name and args, no times
};

enum RecordFlag : std::uint8_t {
  kFlagInstant = 1,         // dur 0, arg instant:1
  kFlagOpenAtEnd = 2,       // arg open_at_end:1
  kFlagNanoseconds = 8,     // begin and end are nanoseconds of the trace clock already, not ticks
  kFlagMetadataEvent = 16,  // a region of event_type 1: updates are ignored
  kFlagConstants = 32,      // its schema holds constants: a hint to the encoder
};

struct RecordHeader {
  std::uint32_t size;
  RecordKind kind;
  std::uint8_t flags;  // RecordFlag bits
  SchemaId schema;
  SiteId site;
  std::uint32_t lane;   // 0: the tid of the chunk; else the tid to write (GPU lanes)
  std::uint64_t begin;  // ticks (base/clock.h)
  std::uint64_t end;
};
static_assert(sizeof(RecordHeader) == 32);

// What follows the header: the args.
inline const char* args_begin(const RecordHeader& record) { return reinterpret_cast<const char*>(&record + 1); }
inline std::size_t args_bytes(const RecordHeader& record) { return record.size - sizeof record; }

}  // namespace dft::model
