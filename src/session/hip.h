// SPDX-License-Identifier: MIT
// Purpose: AMD GPUs as a part of the session; each function is gpu.h's of the same name, for this vendor. A build
//          without HIP tracing has all of this, empty (no_hip.cc).
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "config/config.h"

namespace dft::session::hip {

void expect(const config::Options& config);
void allow(const config::Options& config, int pid);
void end();
void in_child();
void start();
void before_dlopen(const char* file, int flags, const void* caller);
void before_dlsym(const void* caller);
bool flush(std::uint64_t timeout_ns);
void forget();
bool look_for_runtime();  // true: start() is to be called
void append_choice(base::Buffer& out);
void add_losses(std::uint64_t* counts);  // of each gpu::LossCause
void append_summary(base::Buffer& out);

}  // namespace dft::session::hip
