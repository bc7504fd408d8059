// SPDX-License-Identifier: MIT
// A build without CUDA tracing.
#include "session/cuda.h"
#include "session/gpu.h"

namespace dft::session {

void offer_nvtx(const char*) {}
std::size_t nvtx_library_to_set(char* out, std::size_t size) {
  if (size != 0) *out = '\0';
  return 0;
}

namespace cuda {

void expect(const config::Options&) {}
void allow(const config::Options&, int) {}
void end() {}
void in_child() {}
void start() {}
void before_dlopen(const char*, int, const void*) {}
void before_dlsym(const void*) {}
bool profiler_begins(const char*) { return true; }
void profiler_ends() {}
bool flush(std::uint64_t) { return true; }
void forget() {}
bool look_for_driver() { return false; }
void append_choice(base::Buffer&) {}
void add_losses(std::uint64_t*) {}
void append_summary(base::Buffer&) {}

}  // namespace cuda

}  // namespace dft::session
