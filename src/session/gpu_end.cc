// SPDX-License-Identifier: MIT
// How recording of the GPU ends, and what is told of it then.
#include <cstdlib>

#include "base/log.h"
#include "base/raw_io.h"
#include "encode/json_writer.h"
#include "model/trace_format.h"
#include "record/emit.h"
#include "session/gpu.h"
#include "session/gpu_part.h"
#include "sources/gpu/cupti/backend.h"
#include "sources/gpu/gpu_source.h"

namespace dft::session {

using encode::JsonWriter;

void tell_unrecorded(const char* why) {
  record::ArgList<384> args;
  args.add_string("cause", gpu::loss_cause_name(gpu::LossCause::kUnavailable));
  args.add_string("detail", why);
  record::emit_metadata(record::site_id(model::kLoss, model::kCategoryDftracer, model::Layer::kCuda), args);
}

bool lock_in_time(std::uint64_t timeout_ns) {
  const std::uint64_t until = base::monotonic_ns() + timeout_ns;
  const std::uint32_t never = 0;
  while (!gpu_part.lock.try_lock()) {
    if (base::monotonic_ns() > until) return false;
    base::raw::futex_wait(&never, 0, 1'000'000);
  }
  return true;
}

namespace {

bool is_this_process() { return gpu_part.settings.pid == base::raw::pid(); }  // not a child that nobody has settled yet

// The driver is there, but there was no moment at which recording could begin.
void tell_missed_start() {
  if (const char* why = why_left(); why != nullptr) return tell_unrecorded(why);
  if (!gpu::cupti::driver_is_mapped()) return;
  const bool early = gpu::cupti::backend.waits_for_driver();
  const char* why = early ? "CUPTI 13.2 cannot be used before CUDA is up: use another one (DFTRACER_CUPTI_PATH)"
                          : "CUDA was loaded unnoticed: set CUDA_INJECTION64_PATH to the tracer's library";
  tell_unrecorded(why);
  base::LogLine() << "the GPU was not traced: " << why;
}

void stop_in_time() {
  if (!is_this_process()) return;
  const base::SignalGuard signals;
  if (!lock_in_time(gpu_part.settings.exit_timeout_ns)) return;
  const Want before = gpu_part.want.exchange(Want::kNothing, std::memory_order_acq_rel);
  if (before == Want::kWaiting) tell_missed_start();
  if (before == Want::kStarted && !gpu::gpu_source.stop()) {
    base::LogLine() << "the GPU's last records did not come within " << gpu_part.settings.exit_timeout_ns / 1'000'000
                    << " ms (DFTRACER_GPU_EXIT_TIMEOUT_MS): they are missing from the trace";
  }
  gpu_part.lock.unlock();
}

// Registered when CUDA starts, so it runs before what CUDA registered earlier, and before the trace ends.
void at_exit() { stop_in_time(); }

}  // namespace

void watch_for_exit() {
  static std::atomic<bool> watched{false};
  if (!watched.exchange(true, std::memory_order_relaxed)) std::atexit(at_exit);
}

void end_gpu() {
  if (gpu_part.want.load(std::memory_order_acquire) != Want::kNothing) stop_in_time();
}

bool flush_gpu(std::uint64_t timeout_ns) { return !is_this_process() || gpu::gpu_source.flush(timeout_ns); }

void forget_gpu() { gpu_part.want.store(Want::kNothing, std::memory_order_release); }

void append_gpu_losses(base::Buffer& out) {
  const gpu::Summary summary = gpu::gpu_source.summary();
  JsonWriter json(out);
  for (unsigned i = 0; i < gpu::kLossCauses; ++i) {
    const std::uint64_t count = summary.counts.losses[i];
    if (count != 0) json.key(gpu::loss_cause_name(static_cast<gpu::LossCause>(i))).number(count);
  }
}

void append_gpu_summary(base::Buffer& out) {
  const gpu::Summary summary = gpu::gpu_source.summary();
  if (!summary.started) return;
  JsonWriter json(out);
  json.key("gpu").begin_object().key("backend").string(gpu::cupti::backend.name());
  json.key("library").string(gpu::cupti::backend.loaded_from());
  json.key("library_version").number(std::uint64_t{gpu::cupti::backend.version()});
  json.key("driver_cuda").number(std::uint64_t{gpu::cupti::backend.driver_cuda()});
  json.key("records").begin_object();
  for (unsigned kind = 0; kind < gpu::kActivityKinds; ++kind) {
    const std::uint64_t count = summary.counts.records[kind];
    if (count != 0) json.key(gpu::cupti::backend.category(static_cast<gpu::ActivityKind>(kind))).number(count);
  }
  json.end_object().key("clock_suspect").begin_object();
  for (unsigned i = 1; i < gpu::kSuspects; ++i) {
    const std::uint64_t count = summary.counts.suspects[i];
    if (count != 0) json.key(gpu::suspect_name(static_cast<gpu::Suspect>(i))).number(count);
  }
  json.end_object().key("buffers").number(std::uint64_t{summary.buffers});
  json.key("buffer_bytes").number(std::uint64_t{summary.buffer_bytes}).end_object();
}

}  // namespace dft::session
