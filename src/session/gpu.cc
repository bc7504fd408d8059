// SPDX-License-Identifier: MIT
// All vendors of this build.
#include "session/gpu.h"

#include "encode/json_writer.h"
#include "session/cuda.h"
#include "session/hip.h"
#include "session/session_state.h"
#include "sources/gpu/activity_writer.h"

namespace dft::session {

namespace {
void append_both(void (*first)(base::Buffer&), void (*second)(base::Buffer&), base::Buffer& out) {
  encode::JsonWriter json(out);
  base::Buffer members;
  first(members);
  json.raw_members(members.view());
  members.clear();
  second(members);
  json.raw_members(members.view());
}
}  // namespace

void expect_gpu(const config::Options& config) {
  cuda::expect(config);
  hip::expect(config);
}

void allow_gpu(const config::Options& config, int pid) {
  cuda::allow(config, pid);
  hip::allow(config, pid);
}

void end_gpu() {
  cuda::end();
  hip::end();
}

void gpu_in_child() {
  cuda::in_child();
  hip::in_child();
}

void start_gpu() {
  cuda::start();
  hip::start();
}

void gpu_before_dlopen(const char* file, int flags, const void* caller) {
  cuda::before_dlopen(file, flags, caller);
  hip::before_dlopen(file, flags, caller);
}

void gpu_before_dlsym(const void* caller) {
  cuda::before_dlsym(caller);
  hip::before_dlsym(caller);
}

// Only CUPTI has to be shared in turns.
bool gpu_profiler_begins(const char* name) { return cuda::profiler_begins(name); }
void gpu_profiler_ends() { cuda::profiler_ends(); }

bool flush_gpu(std::uint64_t timeout_ns) {
  const bool cuda_done = cuda::flush(timeout_ns);
  return hip::flush(timeout_ns) && cuda_done;
}

void forget_gpu() {
  cuda::forget();
  hip::forget();
}

void look_for_driver() {
  const bool has_cuda = cuda::look_for_driver();
  if (hip::look_for_runtime() || has_cuda) request_service();
}

void append_gpu_choice(base::Buffer& out) { append_both(&cuda::append_choice, &hip::append_choice, out); }

void append_gpu_losses(base::Buffer& out) {
  std::uint64_t counts[gpu::kLossCauses] = {};
  cuda::add_losses(counts);
  hip::add_losses(counts);
  encode::JsonWriter json(out);
  for (unsigned i = 0; i < gpu::kLossCauses; ++i) {
    if (counts[i] != 0) json.key(gpu::loss_cause_name(static_cast<gpu::LossCause>(i))).number(counts[i]);
  }
}

void append_gpu_summary(base::Buffer& out) { append_both(&cuda::append_summary, &hip::append_summary, out); }

}  // namespace dft::session
