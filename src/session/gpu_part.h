// SPDX-License-Identifier: MIT
// Purpose: what the files of the session's GPU part share: gpu.cc (when it starts), gpu_end.cc, gpu_settings.cc,
//          gpu_yield.cc (other profilers) and gpu_injection.cc (who loads this library, and why). gpu.h is what the
//          others see.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/futex_lock.h"
#include "config/config.h"
#include "sources/gpu/settings.h"

namespace dft::session {

enum class Want : std::uint32_t {
  kNothing,   // not recording, switched off, or ended
  kExpected,  // as soon as recording begins; the driver's coming begins it
  kWaiting,   // for the driver
  kStarted,
  kRefused,  // said why
};
struct GpuPart {
  std::atomic<Want> want{Want::kNothing};
  // Held while the vendor's library starts or ends. Never waited for where the holder may wait for us.
  base::FutexLock lock;
  gpu::Settings settings;  // written while nothing is wanted, or with the lock held
  bool yields = false;     // as the settings: DFTRACER_CUDA_YIELD
  // Profilers of the program's own that run now, and whether there ever was one (gpu_yield.cc).
  std::atomic<std::uint32_t> others{0};
  std::atomic<bool> others_came{false};

  bool is_left_to_others() const { return yields && others.load(std::memory_order_acquire) != 0; }
};
extern GpuPart gpu_part;

// gpu_settings.cc
bool gpu_is_wanted(const config::Options& config);
void choose_ranges(const config::Options& config);
void fill_gpu_settings(const config::Options& config, int pid);

// gpu_end.cc
void tell_unrecorded(const char* why);
bool lock_in_time(std::uint64_t timeout_ns);  // gpu_part.lock
void watch_for_exit();  // the GPU part ends before what the vendor has registered for the exit until now

// gpu_yield.cc; null: nothing began later because of another profiler. With the lock held.
const char* why_left();

// gpu_injection.cc
void tell_missing_ranges();

}  // namespace dft::session
