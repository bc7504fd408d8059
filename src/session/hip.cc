// SPDX-License-Identifier: MIT
// When recording of AMD GPUs starts and ends. rocprofiler-sdk asks for us when HIP, HSA, ROCTx or RCCL is first used
// (hip_registration.cc); what it needs is prepared there, and recording starts at once or when the session records.
#include "session/hip.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include "base/log.h"
#include "record/recorder.h"
#include "session/hip_part.h"
#include "session/session_state.h"
#include "session/sources.h"
#include "sources/gpu/rocprof/backend.h"

namespace dft::session::hip {

VendorPart part(model::Layer::kHip);
__thread bool is_inside;

namespace {

std::atomic<unsigned long long> objects_seen{0};
bool has_gpu = false;

// Objects that the dynamic linker has loaded so far.
unsigned long long objects_loaded() {
  unsigned long long adds = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* out) {
        *static_cast<unsigned long long*>(out) = object->dlpi_adds;
        return 1;
      },
      &adds);
  return adds;
}

bool is_waiting() {
  const Want now = part.wanted();
  return (now == Want::kWaiting || now == Want::kExpected) && !is_inside;
}

bool is_ready() {
  const Registration now = registration();
  return now == Registration::kReady || now == Registration::kRefused;
}

// Loaded with local scope (Python's import), this library cannot be found by rocprofiler-sdk, which must be told of it
// before HIP is used. HIP may come as a part of what is loaded next, so this cannot wait for it; but it takes a GPU.
bool needs_force() {
  return registration() == Registration::kNone && !is_found_by_loader() &&
         (has_gpu || gpu::rocprof::runtime_is_mapped());
}

void force() {
  const SourcesPaused paused;
  const int kept = errno;
  is_inside = true;
  {
    const base::SignalGuard signals;  // the threads that the library makes inherit this mask
    register_by_force();
  }
  is_inside = false;
  errno = kept;
  start_if_ready();
}

void tell_missed_start() {
  if (registration() != Registration::kNone || is_found_by_loader() || !gpu::rocprof::runtime_is_mapped()) return;
  const char* why = "HIP was in the process before the tracer: load the tracer first (LD_PRELOAD, dftracer run)";
  part.tell_unrecorded(why);
  base::LogLine() << "the GPU was not traced: " << why;
}

}  // namespace

void expect(const config::Options& config) {
  if (is_wanted(config)) part.want.store(Want::kExpected, std::memory_order_release);
}

void allow(const config::Options& config, int pid) {
  const Want before = part.wanted();
  if (before != Want::kNothing && before != Want::kExpected) return;
  if (!is_wanted(config)) return;
  fill_settings(config, pid);
  has_gpu = gpu::rocprof::has_driver(config.hip_topology.c_str());
  objects_seen.store(0, std::memory_order_relaxed);
  part.want.store(Want::kWaiting, std::memory_order_release);
}

void start_if_ready() {
  if (!is_waiting() || !is_ready()) return;
  const SourcesPaused paused;
  const int kept = errno;
  is_inside = true;
  if (part.wanted() == Want::kExpected) record::recorder.on_inactive();
  {
    const base::SignalGuard signals;
    if (part.wanted() == Want::kWaiting && part.lock.try_lock()) {
      if (part.wanted() == Want::kWaiting) {
        const bool on = gpu::hip_source.start(part.settings, gpu::rocprof::backend);
        part.want.store(on ? Want::kStarted : Want::kRefused, std::memory_order_release);
      }
      part.lock.unlock();
    }
  }
  is_inside = false;
  errno = kept;
}

void start() {
  if (!is_waiting()) return;
  if (is_ready()) return start_if_ready();
  const unsigned long long now = objects_loaded();
  if (objects_seen.exchange(now, std::memory_order_relaxed) != now && needs_force()) force();
}

void before_dlopen(const char* file, int flags, const void*) {
  if (!is_waiting()) return;
  if (is_ready()) return start_if_ready();
  const bool loads = gpu::rocprof::names_runtime(file) && (flags & RTLD_NOLOAD) == 0;
  if (loads && registration() == Registration::kNone && !is_found_by_loader()) force();
}

void before_dlsym(const void*) { start_if_ready(); }

bool look_for_runtime() {
  static unsigned long long seen = 0;
  if (part.wanted() != Want::kWaiting) return false;
  if (is_ready()) return true;
  const unsigned long long now = objects_loaded();
  if (now == seen) return false;
  seen = now;
  return needs_force();
}

void end() {
  if (part.wanted() != Want::kNothing) part.stop_in_time(&tell_missed_start, "the AMD GPU's");
}

void end_before_library() {
  part.stop_in_time([] {}, "the AMD GPU's");
}

bool flush(std::uint64_t timeout_ns) { return part.flush(timeout_ns); }

void forget() { part.want.store(Want::kNothing, std::memory_order_release); }

void in_child() {
  is_inside = false;
  part.in_child();
}

}  // namespace dft::session::hip
