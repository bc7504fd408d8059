// SPDX-License-Identifier: MIT
// Purpose: the args of GPU records. Which of them a record has is a set of bits, and each set is one schema, interned
// at
//          its first use.
// Threads: one owner, the decoding thread.
// See: docs/gpu.md for what each key means.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "record/emit.h"
#include "sources/gpu/activity.h"
#include "sources/gpu/flat_map.h"

namespace dft::gpu {

// In the order in which they are written. A record adds its args in this order.
enum class Key : std::uint8_t {
  kCbid,
  kDevice,
  kContext,
  kStream,
  kCorrelation,
  kReturnValue,
  kError,
  kPid,
  kGridId,
  kGridX,
  kGridY,
  kGridZ,
  kBlockX,
  kBlockY,
  kBlockZ,
  kStaticSharedMemory,
  kDynamicSharedMemory,
  kRegistersPerThread,
  kLocalMemoryPerThread,
  kClusterX,
  kClusterY,
  kClusterZ,
  kSymbolHash,
  kBytes,
  kCopyKind,
  kSrcKind,
  kDstKind,
  kSrcDevice,
  kDstDevice,
  kSrcContext,
  kDstContext,
  kValue,
  kCounterKind,
  kAddress,
  kMemoryKind,
  kPoolAddress,
  kPoolSize,
  kAsync,
  kSource,
  kCudaEvent,
  kSrc,
  kDst,
  kObjectKind,
  kOverheadKind,
  kGraph,
  kGraphNode,
  kDurNs,
  kClockSuspect,
  kCount,
};
static_assert(static_cast<unsigned>(Key::kCount) <= 64);

// The schema of records with these keys and values whose args are constants but for `own`; each call makes another.
// kSelfDescribing when there can be no more. REQUIRES: no text among the keys.
model::SchemaId constants_schema(std::uint64_t keys, std::uint64_t own, const std::uint64_t* values);

class SchemaCache {
 public:
  // `kind`: records of one kind mostly have the same keys.
  model::SchemaId of(std::uint64_t keys, ActivityKind kind) {
    Last& last = last_[static_cast<unsigned>(kind)];
    if (keys != last.keys) last = {keys, look_up(keys)};
    return last.schema;
  }

 private:
  model::SchemaId look_up(std::uint64_t keys);
  FlatMap<WordKey, model::SchemaId> known_;
  struct Last {
    std::uint64_t keys = 0;
    model::SchemaId schema = model::kNoArgs;
  };
  Last last_[kActivityKinds];
};

// The values of one record, written where they stay. All of it is inline, so that the cursor stays in a register.
class ActivityArgs {
 public:
  static constexpr std::size_t kMost = 1536;  // bytes that a record's values may take
  explicit ActivityArgs(char* at) : at_(at) {}
  void add(Key key, std::uint64_t bits) {
    mark(key);
    std::memcpy(at_, &bits, sizeof bits);
    at_ += sizeof bits;
  }
  void add_signed(Key key, std::int64_t value) { add(key, static_cast<std::uint64_t>(value)); }
  void add_id(Key key, std::uint32_t id) {  // invalid ids are left out
    if (id != 0xffffffffu) add(key, id);
  }
  void add_string(Key key, std::string_view text) {  // of a record at most two, and the name of a suspect time
    text = text.substr(0, kMostText);
    add(key, text.size());
    model::copy_value(at_, text.data(), text.size());
    at_ += model::padded8(text.size());
  }
  std::uint64_t keys() const { return keys_; }
  const char* end() const { return at_; }

 private:
  static constexpr std::size_t kMostText = 512;
  void mark(Key key) { keys_ |= std::uint64_t{1} << static_cast<unsigned>(key); }
  std::uint64_t keys_ = 0;
  char* at_;
};
static_assert(ActivityArgs::kMost >= 8 * static_cast<unsigned>(Key::kCount) + 2 * 512 + 16);

}  // namespace dft::gpu
