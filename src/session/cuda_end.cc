// SPDX-License-Identifier: MIT
// How recording of NVIDIA GPUs ends, and what is told of it then.
#include <cstdlib>

#include "base/log.h"
#include "encode/json_writer.h"
#include "session/cuda.h"
#include "session/cuda_part.h"
#include "sources/gpu/cupti/backend.h"
#include "sources/gpu/gpu_source.h"

namespace dft::session::cuda {

using encode::JsonWriter;

namespace {

// The driver is there, but there was no moment at which recording could begin.
void tell_missed_start() {
  if (tell_left()) return;
  if (!gpu::cupti::driver_is_mapped()) return;
  const bool early = gpu::cupti::backend.waits_for_driver();
  const char* why = early ? "CUPTI 13.2 cannot be used before CUDA is up: use another one (DFTRACER_CUPTI_PATH)"
                          : "CUDA was loaded unnoticed: set CUDA_INJECTION64_PATH to the tracer's library";
  part.tell_unrecorded(why);
  base::LogLine() << "the GPU was not traced: " << why;
}

void stop_in_time() { part.stop_in_time(&tell_missed_start, "the GPU's"); }

// Registered when CUDA starts, so it runs before what CUDA registered earlier, and before the trace ends.
void at_exit() { stop_in_time(); }

}  // namespace

void watch_for_exit() {
  static std::atomic<bool> watched{false};
  if (!watched.exchange(true, std::memory_order_relaxed)) std::atexit(at_exit);
}

void end() {
  if (part.wanted() != Want::kNothing) stop_in_time();
}

bool flush(std::uint64_t timeout_ns) { return part.flush(timeout_ns); }

void forget() { part.want.store(Want::kNothing, std::memory_order_release); }

void add_losses(std::uint64_t* counts) {
  const gpu::Summary summary = part.source().summary();
  for (unsigned i = 0; i < gpu::kLossCauses; ++i) counts[i] += summary.counts.losses[i];
}

void append_summary(base::Buffer& out) {
  if (!part.source().summary().started) return;
  JsonWriter json(out);
  json.key("gpu").begin_object().key("backend").string(gpu::cupti::backend.name());
  json.key("library").string(gpu::cupti::backend.loaded_from());
  json.key("library_version").number(std::uint64_t{gpu::cupti::backend.version()});
  json.key("driver_cuda").number(std::uint64_t{gpu::cupti::backend.driver_cuda()});
  if (gpu::cupti::backend.has_shared()) json.key("shared").flag(true);
  part.append_counts(gpu::cupti::backend, json);
  json.end_object();
}

}  // namespace dft::session::cuda
