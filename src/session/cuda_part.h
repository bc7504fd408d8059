// SPDX-License-Identifier: MIT
// Purpose: what the files of the session's CUDA part share: cuda.cc (when it starts), cuda_end.cc, cuda_settings.cc and
//          cuda_injection.cc (who loads this library, and why). cuda.h is what the others see.
#pragma once

#include "session/vendor_part.h"

namespace dft::session::cuda {

extern VendorPart part;

// cuda_settings.cc
bool is_wanted(const config::Options& config);
void choose_ranges(const config::Options& config);
void fill_settings(const config::Options& config, int pid);

// cuda_end.cc
void watch_for_exit();  // the GPU part ends before what the vendor has registered for the exit until now

// cuda_injection.cc
void tell_missing_ranges();

}  // namespace dft::session::cuda
