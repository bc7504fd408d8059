// SPDX-License-Identifier: MIT
// Purpose: what the files of the session's CUDA part share: cuda.cc (when it starts), cuda_end.cc, cuda_settings.cc,
//          cuda_yield.cc (other profilers) and cuda_injection.cc (who loads this library, and why). cuda.h is what the
//          others see.
#pragma once

#include "session/vendor_part.h"

namespace dft::session::cuda {

extern VendorPart part;

// Profilers of the program's own, to whom CUPTI can be left.
struct Others {
  bool yields = false;  // as part.settings: DFTRACER_CUDA_YIELD
  std::atomic<std::uint32_t> running{0};
  std::atomic<bool> came{false};  // there was one some time

  bool have_it() const { return yields && running.load(std::memory_order_acquire) != 0; }
};
extern Others others;

// cuda_settings.cc
bool is_wanted(const config::Options& config);
void choose_ranges(const config::Options& config);
void fill_settings(const config::Options& config, int pid);

// cuda_end.cc
void watch_for_exit();  // the GPU part ends before what the vendor has registered for the exit until now

// cuda_yield.cc: a `loss` record where recording began later, or never, because of another profiler.
bool tell_left();

// cuda_injection.cc
void tell_missing_ranges();

}  // namespace dft::session::cuda
