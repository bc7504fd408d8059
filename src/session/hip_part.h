// SPDX-License-Identifier: MIT
// Purpose: what the files of the session's HIP part share: hip.cc (when it starts), hip_registration.cc (how
//          rocprofiler-sdk finds us) and hip_settings.cc. hip.h is what the others see.
#pragma once

#include "session/vendor_part.h"

namespace dft::session::hip {

extern VendorPart part;
// This thread is inside: the library's own dlopens, and ours, are none of the application's.
extern __thread bool is_inside;

// hip.cc
void start_if_ready();      // rocprofiler-sdk is prepared, or it is known why it is not
void end_before_library();  // its own end is near

// hip_registration.cc
enum class Registration : std::uint32_t {
  kNone,     // rocprofiler-sdk has not asked for us yet
  kAsked,    // it has, and is about to call `initialize`
  kReady,    // prepared
  kRefused,  // not, and the reason is to be told
};
Registration registration();
// Some tool's function is in the global scope, whereupon rocprofiler-sdk looks through all objects and finds ours too.
bool is_found_by_loader();
void register_by_force();

// hip_settings.cc
bool is_wanted(const config::Options& config);
void fill_settings(const config::Options& config, int pid);
// Of the configuration in force; null: tracing of HIP is off.
const config::Options* wanted_options();

}  // namespace dft::session::hip
