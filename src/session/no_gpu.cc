// SPDX-License-Identifier: MIT
// A build without GPU tracing.
#include "session/gpu.h"

namespace dft::session {

void expect_gpu(const config::Options&) {}
void allow_gpu(const config::Options&, int) {}
void end_gpu() {}
void gpu_in_child() {}
void start_gpu() {}
void gpu_before_dlopen(const char*, int, const void*) {}
void gpu_before_dlsym(const void*) {}
bool gpu_profiler_begins(const char*) { return true; }
void gpu_profiler_ends() {}
std::size_t nvtx_library_to_set(char* out, std::size_t size) {
  if (size != 0) *out = '\0';
  return 0;
}
bool flush_gpu(std::uint64_t) { return true; }
void forget_gpu() {}
void offer_nvtx(const char*) {}
void look_for_driver() {}
void append_gpu_choice(base::Buffer&) {}
void append_gpu_losses(base::Buffer&) {}
void append_gpu_summary(base::Buffer&) {}

}  // namespace dft::session
