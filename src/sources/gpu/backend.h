// SPDX-License-Identifier: MIT
// Purpose: the seam to a vendor's tracing library: it starts and stops the library, and turns raw buffers into Activity
//          values. Everything else about GPUs is vendor-neutral.
// Threads: start, stop, flush, decode, dropped and now by the thread that decodes (one at a time); in_forked_child by
//          the child's only thread. The vendor's own callbacks use the BufferPool and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/trace_format.h"
#include "sources/gpu/activity.h"
#include "sources/gpu/buffer_pool.h"
#include "sources/gpu/named_activity.h"
#include "sources/gpu/settings.h"

namespace dft::gpu {

// What a `gpu_status` record says. Texts are static or live in the backend.
struct Status {
  enum class State : std::uint8_t { kOff, kPartial, kOn };
  State state = State::kOff;
  std::int32_t code = 0;            // the vendor's result
  const char* code_name = nullptr;  // null: none
  const char* category = nullptr;   // the one that could not be switched on; null: all
  const char* holder = nullptr;     // who holds the library's subscription, where it can be known
  const char* detail = nullptr;     // what to do
};
class StatusSink {
 public:
  virtual void status(const Status& status) = 0;

 protected:
  ~StatusSink() = default;
};

class Backend {
 public:
  virtual std::string_view name() const = 0;  // "cupti"
  virtual model::Layer layer() const = 0;
  virtual std::string_view category(ActivityKind kind) const = 0;
  // As the user knows it; empty: unknown. The text stays.
  virtual std::string_view operation_name(ActivityKind kind, unsigned operation) = 0;

  // Of a vendor that names its kinds, operations and args itself.
  virtual std::string_view named_category(unsigned) const { return {}; }
  virtual std::string_view named_operation(unsigned, unsigned) { return {}; }
  virtual NamedFields named_fields() const { return {}; }
  virtual std::string_view hidden_suffix() const { return {}; }  // of kernel symbols, no part of their names

  // False when nothing is recorded; `statuses` was told why. Buffers come from `pool`, which outlives the process.
  virtual bool start(const Settings& settings, BufferPool& pool, StatusSink& statuses) = 0;
  // Asks for the buffers whose records are complete, or with `forced` for all. May take milliseconds.
  virtual void flush(bool forced) = 0;
  // From now on only work on the device is recorded, neither calls nor the library's own overhead: each flush makes
  // new overhead, and with it a new buffer to wait for.
  virtual void wind_down() = 0;
  // Switches everything off. The library stays mapped; callbacks may still come and are counted only.
  virtual void stop() = 0;
  // After the last decode() and collect_losses(): what the library keeps for us is given up.
  virtual void release() {}
  virtual void decode(const RawBuffer& buffer, ActivitySink& sink) = 0;
  // Losses that the library knows of since the last call, and graphs that were made.
  virtual void collect_losses(ActivitySink& sink) = 0;
  // Work that was asked for and has no record yet, where the library holds no buffer that says so.
  virtual bool work_is_left() { return false; }
  // The clock of the records, for samples against the trace clock.
  virtual std::uint64_t now_ns() = 0;
  virtual const char* clock_name() const = 0;
  // The library must not be called any more, whatever the child does.
  virtual void in_forked_child() = 0;

 protected:
  ~Backend() = default;
};

// Bits of the categories that a list names, for Settings::categories. "default" stands for all, as an empty list does.
// `unknown` gets the first name that is no category of the backend; it is left out.
inline std::uint32_t category_bits(const Backend& backend, const std::string_view* names, std::size_t count,
                                   std::string_view* unknown) {
  std::uint32_t bits = count == 0 ? (1u << kActivityKinds) - 1 : 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t found = names[i] == "default" ? (1u << kActivityKinds) - 1 : 0;
    for (unsigned kind = 0; kind < kActivityKinds; ++kind) {
      if (backend.category(static_cast<ActivityKind>(kind)) == names[i]) found |= 1u << kind;
    }
    if (found == 0 && unknown->empty()) *unknown = names[i];
    bits |= found;
  }
  return bits;
}

}  // namespace dft::gpu
