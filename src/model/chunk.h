// SPDX-License-Identifier: MIT
// Purpose: the unit in which memory for records is handed out, published and drained.
// Threads: `committed` is stored with release by the owning thread and read with acquire by the drain; the drained_*
// fields
//          belong to the drain; the rest is set before the chunk is published.
// Invariant: records fill [0, committed) behind the header without gaps; a record is visible only when whole.
#pragma once

#include <atomic>
#include <cstdint>

#include "model/record.h"

namespace dft::model {

inline constexpr std::uint32_t kChunkSize = 64 * 1024;               // slot size, header included
inline constexpr std::uint64_t kChunkMagic = 0x314b4e4843544644ull;  // "DFTCHNK1" little-endian

enum class ChunkKind : std::uint32_t {
  kFree = 0,
  kEvents = 1,       // RecordHeader records
  kDefinitions = 2,  // DefinitionHeader entries, never recycled while recording
  kRegions = 3,      // open-region slots (crash_file.h), never recycled while recording
  kSpill = 4,        // args of one open region that did not fit into its slot
};

struct ChunkHeader {
  std::uint64_t magic;
  std::atomic<ChunkKind> kind;
  std::uint32_t
      slots;  // how many slots of kChunkSize this chunk spans (a record larger than a slot gets its own chunk)
  std::int32_t pid;
  std::int32_t tid;
  std::atomic<std::uint64_t> committed;  // bytes behind the header that hold whole records (or slots, entries)
  // Drain progress in the same unit. `drained` is safe in the trace file; `pending` will be once block `pending_block`
  // is.
  std::uint64_t drained;
  std::uint64_t pending;
  std::uint64_t pending_block;
  std::uint64_t seq;        // position in its thread's stream
  std::uint32_t stream;     // 0 normal, 1 records of signal handlers that interrupted the recorder
  std::uint32_t origin;     // ChunkOrigin bits
  std::uint64_t file_slot;  // number of its first slot in the crash file
  // Process-local; meaningless after death.
  ChunkHeader* next;
  void* owner;
  std::uint32_t resident;  // of a free chunk: its pages may be in memory
  std::uint32_t reserved[7];
  std::size_t capacity() const { return std::size_t{slots} * kChunkSize - sizeof(ChunkHeader); }
  char* data() { return reinterpret_cast<char*>(this + 1); }
  const char* data() const { return reinterpret_cast<const char*>(this + 1); }
};
// Bits of ChunkHeader::origin.
inline constexpr std::uint32_t kInCrashFile = 1;
inline constexpr std::uint32_t kUncounted = 2;  // does not count against the memory limit
static_assert(sizeof(ChunkHeader) == 128);

enum class DefinitionOf : std::uint8_t {
  kString = 0,  // bytes: the string
  kSite = 1,    // bytes: name, then category
  kSchema = 2,  // bytes: the fields (model/args.h); ids of their own
};

// Entries of a definitions chunk: header, then the bytes padded to 8.
struct DefinitionHeader {
  std::uint32_t size;  // whole entry, multiple of 8
  std::uint32_t id;
  DefinitionOf of;
  std::uint8_t layer_or_kind;  // Layer or StringKind
  std::uint16_t cat_len;
  std::uint32_t name_len;
  char hash[16];  // strings only
};
static_assert(sizeof(DefinitionHeader) == 32);

}  // namespace dft::model
