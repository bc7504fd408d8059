// SPDX-License-Identifier: MIT
// Purpose: raw CUPTI buffers -> Activity values.
// Threads: one owner, the decoding thread.
// Invariant: every record of a buffer becomes an activity, a fact, something left out by the user's choice, or is
//            counted in a loss.
#pragma once

#include <cstdint>

#include "sources/gpu/activity.h"
#include "sources/gpu/backend.h"
#include "sources/gpu/cupti/api_names.h"
#include "sources/gpu/cupti/functions.h"
#include "sources/gpu/cupti/layouts.h"
#include "sources/gpu/cupti/version.h"

namespace dft::gpu::cupti {

class Decoder {
 public:
  struct Choice {
    std::uint32_t categories = ~0u;  // bit per ActivityKind
    Version version;
    Signature_cuptiActivityGetNextRecord next = nullptr;
  };
  void configure(const Choice& choice, ApiNames& names);
  void decode(const RawBuffer& buffer, ActivitySink& sink);

 private:
  struct Unknown {  // records that this version cannot read, by kind and size
    std::uint32_t kind;
    std::uint32_t size;
    std::uint64_t count;
  };
  static constexpr unsigned kUnknownKinds = 16;

  // `writer`: the sink, if it is one; else null.
  bool decode_record(Record record, ActivitySink& sink, ActivityWriter* writer);
  bool decode_kernel_record(Record record, ActivitySink& sink, ActivityWriter* writer);
  template <ActivityKind kind>
  bool decode_api(Record record, ActivitySink& sink, ActivityWriter* writer);
  bool decode_other(Record record, ActivitySink& sink);
  bool wants(ActivityKind kind) const { return (choice_.categories >> static_cast<unsigned>(kind) & 1u) != 0; }
  void count_unknown(Record record);
  void report_unknown(ActivitySink& sink);

  Choice choice_;
  ApiNames* names_ = nullptr;
  Unknown unknown_[kUnknownKinds] = {};
  unsigned unknown_count_ = 0;
};

// Each false for a record that is too short. decode_work.cc: what runs on the device; kernels: decode_kernel.h.
bool decode_memcpy(Record record, Activity& out);
bool decode_peer_copy(Record record, Activity& out);
bool decode_memset(Record record, Activity& out);
bool decode_graph(Record record, Activity& out);
// decode_rest.cc: memory, synchronisation, unified memory, overhead.
bool decode_memory(Record record, Activity& out);
bool decode_memory_pool(Record record, Activity& out);
bool decode_sync(Record record, Activity& out);
bool decode_unified_memory(Record record, Activity& out);
bool decode_overhead(Record record, Activity& out);
// decode_facts.cc: devices, contexts, streams.
bool decode_device(Record record, DeviceFacts& out);
bool decode_context(Record record, ContextFacts& out);
bool decode_stream(Record record, StreamFacts& out);

// Names of operations that are no API calls; empty: not known.
std::string_view fixed_operation_name(ActivityKind kind, unsigned operation);
std::string_view category_name(ActivityKind kind);

// Operations of pools stand behind those of memory itself.
inline constexpr unsigned kFirstPoolOperation = 8;

}  // namespace dft::gpu::cupti
