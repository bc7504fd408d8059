// SPDX-License-Identifier: MIT
// When recording of NVIDIA GPUs starts.
#include "session/cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include <string_view>

#include "record/recorder.h"
#include "session/cuda_part.h"
#include "session/session_state.h"
#include "session/sources.h"
#include "sources/gpu/cupti/backend.h"
#include "sources/gpu/gpu_source.h"
#include "sources/gpu/nvtx.h"

namespace dft::session::cuda {

VendorPart part(model::Layer::kCuda);
Others others;

namespace {

std::atomic<unsigned long long> objects_seen{0};
std::atomic<bool> noticed_late{false};  // no hook saw the driver come
__thread bool in_start;                 // this thread is inside: the vendor's own dlopens are none of the application's

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

bool driver_may_have_come() {
  if (gpu::cupti::backend.waits_for_driver()) return true;
  const unsigned long long now = objects_loaded();
  return objects_seen.exchange(now, std::memory_order_relaxed) != now;
}

std::string_view name_of(const char* path) {
  if (path == nullptr) return {};
  const std::string_view whole = path;
  return whole.substr(whole.rfind('/') + 1);
}
bool names_driver(const char* path) {
  constexpr std::string_view kStem = "libcuda.so";
  return name_of(path).substr(0, kStem.size()) == kStem;
}
// A look-up that the driver itself makes may hold its locks.
bool is_in_driver(const void* address) {
  Dl_info info;
  if (dladdr(const_cast<void*>(address), &info) == 0) return false;
  return names_driver(info.dli_fname) || name_of(info.dli_fname).substr(0, 10) == "libnvidia-";
}

// REQUIRES: the driver is mapped; not inside it.
void start_with_driver() {
  const SourcesPaused paused;
  const int kept = errno;
  in_start = true;
  if (part.wanted() == Want::kExpected) record::recorder.on_inactive();
  {
    const base::SignalGuard signals;  // the threads that the vendor's library makes inherit this mask
    if (part.wanted() == Want::kWaiting && part.lock.try_lock()) {
      if (part.wanted() == Want::kWaiting) {
        part.settings.beside_holder = others.yields && others.came.load(std::memory_order_relaxed);
        const bool on = gpu::cuda_source.start(part.settings, gpu::cupti::backend);
        const Want otherwise = gpu::cupti::backend.waits_for_driver() ? Want::kWaiting : Want::kRefused;
        part.want.store(on ? Want::kStarted : otherwise, std::memory_order_release);
        if (on) watch_for_exit();
        if (on) tell_missing_ranges();
        if (on && noticed_late.load(std::memory_order_relaxed)) {
          part.tell_unrecorded("CUDA was loaded unnoticed: what it did before this is missing");
        }
      }
      part.lock.unlock();
    }
  }
  in_start = false;
  errno = kept;
}

bool is_waiting() {
  const Want now = part.wanted();
  return (now == Want::kWaiting || now == Want::kExpected) && !in_start && !others.have_it();
}

}  // namespace

void expect(const config::Options& config) {
  choose_ranges(config);
  if (is_wanted(config)) part.want.store(Want::kExpected, std::memory_order_release);
}

void allow(const config::Options& config, int pid) {
  const Want before = part.wanted();
  if (before != Want::kNothing && before != Want::kExpected) return;
  choose_ranges(config);
  if (!is_wanted(config) || part.source().is_dead()) return;  // forked, and the parent used the GPU
  fill_settings(config, pid);
  objects_seen.store(0, std::memory_order_relaxed);
  noticed_late.store(false, std::memory_order_relaxed);
  part.want.store(Want::kWaiting, std::memory_order_release);
}

void in_child() {
  others.running.store(0, std::memory_order_relaxed);
  in_start = false;
  gpu::nvtx::in_forked_child();
  part.in_child();
}

void start() {
  if (is_waiting() && driver_may_have_come() && gpu::cupti::driver_is_mapped()) start_with_driver();
}

void before_dlopen(const char* file, int flags, const void* caller) {
  if (!is_waiting()) return;
  if (names_driver(file) && (flags & RTLD_NOLOAD) == 0) {
    const int kept = errno;
    in_start = true;
    const bool there = dlopen(file, flags) != nullptr;
    if (!there) dlerror();  // the application's own dlopen finds it, or the reason
    in_start = false;
    errno = kept;
  }
  before_dlsym(caller);
}

void before_dlsym(const void* caller) {
  if (is_waiting() && !is_in_driver(caller)) start();
}

bool look_for_driver() {
  static unsigned long long seen = 0;
  if (part.wanted() != Want::kWaiting || others.have_it()) return false;
  const unsigned long long now = objects_loaded();
  if (now == seen && !gpu::cupti::backend.waits_for_driver()) return false;
  seen = now;
  if (!gpu::cupti::driver_is_mapped()) return false;
  noticed_late.store(true, std::memory_order_relaxed);
  return true;
}

}  // namespace dft::session::cuda
