// SPDX-License-Identifier: MIT
// A build without HIP tracing.
#include "session/hip.h"

namespace dft::session::hip {

void expect(const config::Options&) {}
void allow(const config::Options&, int) {}
void end() {}
void in_child() {}
void start() {}
void before_dlopen(const char*, int, const void*) {}
void before_dlsym(const void*) {}
bool flush(std::uint64_t) { return true; }
void forget() {}
bool look_for_runtime() { return false; }
void append_choice(base::Buffer&) {}
void add_losses(std::uint64_t*) {}
void append_summary(base::Buffer&) {}

}  // namespace dft::session::hip
