// SPDX-License-Identifier: MIT
// Purpose: how tests and the stand-in for HIP play on the stand-in for rocprofiler-sdk. The library has the entry
// points
//          that a tool uses, delivers records on threads of its own, and does wrong what a scenario asks for. It comes
//          as librocprofiler-sdk.so.0 (releases 0.4 to 0.6) and .so.1 (1.0 and later).
// Words of a scenario, in DFT_HIP_STANDIN or for configure(), separated by blanks:
//   version=1.3.0        the release that it says to be
//   shuffle=1            records of a buffer in reverse order
//   drops=5              the first delivery of each buffer says that so many records were dropped (the count stays)
//   zero_every=7         every seventh kernel has no times; zero_end_every=7 no end; reversed_every=7 its end first
//   no_flush=1           nothing is delivered before the end
//   initialize_twice=1   tools are initialised once more
//   locked=1             configuring is over before anyone was asked
//   late=1               nobody can flush; buffers are delivered after the tools' finalize
//   child_dies=1         its exit handler crashes in a forked child, as the real one's does where copies are traced
//   no_finalize=1        the process ends without the tools' finalize
//   fail=KERNEL_DISPATCH that service cannot be configured (a kind's name; also create_buffer, create_context, start)
//   uuid16=1, scratch_bytes=1   records as later releases of the same number have them
#pragma once

#include <time.h>

#include <cstdint>
#include <string>

#include "layout.h"

namespace standin {

// A record in the SDK's words. What the release or the kind does not have is left out.
struct Event {
  const char* kind = "";       // of buffer tracing
  const char* operation = "";  // by its name
  std::uint64_t begin = 0, end = 0, thread = 0, internal = 0, external = 0, ancestor = 0;
  std::uint64_t agent = 0, queue = 0, kernel = 0, dispatch = 0;
  std::uint32_t private_segment = 0, group_segment = 0, workgroup[3] = {1, 1, 1}, grid[3] = {1, 1, 1};
  std::uint64_t src_agent = 0, dst_agent = 0, bytes = 0, src_address = 0, dst_address = 0, address = 0;
  std::uint32_t flags = 0;
  // Page migration.
  std::uint64_t start_address = 0, end_address = 0, prefetch_agent = 0, preferred_agent = 0;
  std::uint32_t pid = 0, count = 0;
  std::int32_t trigger = 0, error = 0;
  bool read_fault = false, migrated = false, rescheduled = false;
  std::int32_t result = 0;  // of a HIP call
};

struct Counters {
  std::uint64_t calls = 0;      // of entry points by tools
  std::uint64_t delivered = 0;  // records handed to callbacks
  std::uint64_t configured = 0, initialized = 0, finalized = 0, declined = 0;
  std::uint64_t buffers = 0, threads = 0, contexts = 0, active = 0;
};

using Configure = void* (*)(std::uint32_t version, const char* text, std::uint32_t priority, void* client_id);

class Sdk {
 public:
  // A new life of the library, with what the words ask for. Tools of an earlier life are forgotten.
  virtual void configure(const char* words) = 0;
  // As rocprofiler-register does it when the HIP runtime comes: asks these tools, or with none every object that
  // exports rocprofiler_configure, and initialises them.
  virtual void attach(const Configure* tools, std::size_t count) = 0;
  virtual void finalize() = 0;  // its exit handler

  virtual Release release() const = 0;
  virtual void emit(const Event& event) = 0;  // into the buffer of its kind
  virtual void emit_raw(std::uint32_t kind, const void* record, std::size_t size) = 0;
  virtual bool traces(const char* kind) const = 0;
  virtual std::uint32_t kind_number(const char* kind) const = 0;
  virtual bool has(const char* kind, const char* operation) const = 0;
  virtual void deliver() = 0;       // all buffers, and waits
  virtual void deliver_late() = 0;  // the same after the end, without a wait for its threads
  virtual void drop(const char* kind, std::uint64_t count) = 0;

  // What a runtime does on the calling thread: calls nest, and work belongs to the innermost that is traced.
  virtual void enter(const char* kind, const char* operation) = 0;
  virtual void leave(std::int32_t result) = 0;
  virtual void work(Event event) = 0;
  virtual void symbol(bool load, std::uint64_t kernel, const char* name) = 0;
  // phase 0: created or destroyed, 1 and 2: set before and after a call.
  virtual void stream(int operation, int phase, std::uint64_t id, std::uint64_t value) = 0;
  // ROCTx: the function, its text or null, the id of a range, the result of roctxRangeStartA.
  virtual void marker(const char* function, const char* text, std::uint64_t id, std::uint64_t result) = 0;
  virtual Counters counters() const = 0;

 protected:
  ~Sdk() = default;
};

// Agents: a CPU with node 0 and GPUs with nodes 1 and 2.
inline constexpr std::uint64_t kCpuAgent = 0x7a00, kGpuAgent = 0x7a01, kOtherGpuAgent = 0x7a02;

inline std::uint64_t now_ns() {  // the SDK's clock
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace standin

extern "C" standin::Sdk* dft_hip_standin();
