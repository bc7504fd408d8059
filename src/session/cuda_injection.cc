// SPDX-License-Identifier: MIT
// The names by which CUDA and NVTX find this library, and how NVTX is told of it.
#include <dlfcn.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/raw_io.h"
#include "record/recorder.h"
#include "session/cuda_part.h"
#include "session/gpu.h"
#include "session/session_state.h"
#include "sources/gpu/cupti/backend.h"
#include "sources/gpu/gpu_source.h"
#include "sources/gpu/nvtx.h"

#define DFT_EXPORT extern "C" __attribute__((visibility("default")))

// The CUDA driver has loaded this library because CUDA_INJECTION64_PATH names it, and is on the way into its first
// call.
DFT_EXPORT int InitializeInjection() {
  if (!dft::record::recording() &&
      (dft::record::recorder.on_inactive == nullptr || !dft::record::recorder.on_inactive())) {
    return 1;
  }
  dft::session::start_gpu();
  return 1;
}

// NVTX has, because NVTX_INJECTION64_PATH names it.
DFT_EXPORT int InitializeInjectionNvtx2(dft::gpu::nvtx::GetExportTable get_table) {
  return dftracer_on != 0 ? dft::gpu::nvtx::initialize(get_table) : 0;
}

namespace dft::session {

namespace cuda {

namespace {

const char* why_no_ranges = nullptr;  // NVTX will not find this library

bool is_on(const char* variable) {
  const char* text = config::process_environment(variable);
  bool on = true;
  if (text != nullptr && text[0] != '\0' && config::parse_bool(text, &on)) return on;
  return true;
}

// By hand: the program may have a setenv and a getenv of its own (bash), which must not run before its main.
void add_to_environment(char* entry) {
  std::size_t count = 0;
  while (environ != nullptr && environ[count] != nullptr) ++count;
  auto* const larger = static_cast<char**>(base::raw::map((count + 2) * sizeof(char*)));
  if (larger == nullptr) return;
  for (std::size_t i = 0; i < count; ++i) larger[i] = environ[i];
  larger[count] = entry;
  environ = larger;
}

}  // namespace

void tell_missing_ranges() {
  if (why_no_ranges == nullptr || !part.settings.wants(gpu::ActivityKind::kMarker)) return;
  gpu::Status status;
  status.state = gpu::Status::State::kPartial;
  status.category = gpu::cupti::backend.category(gpu::ActivityKind::kMarker).data();
  status.detail = why_no_ranges;
  gpu::cuda_source.status(status);
}

}  // namespace cuda

void offer_nvtx(const char* directory) {
  constexpr const char* kVariable = "NVTX_INJECTION64_PATH";
  if (!cuda::is_on("DFTRACER_CUDA") || !cuda::is_on("DFTRACER_NVTX")) return;
  if (const char* chosen = config::process_environment(kVariable)) {
    if (std::strstr(chosen, "libdftracer_") == nullptr)
      cuda::why_no_ranges = "NVTX_INJECTION64_PATH is set to something else";
    return;
  }
  if (__libc_single_threaded == 0) {
    cuda::why_no_ranges =
        "the tracer was loaded when there were threads already: set NVTX_INJECTION64_PATH to its library";
    return;
  }
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&InitializeInjectionNvtx2), &self) == 0) return;
  static char entry[8192];
  const bool absolute = self.dli_fname[0] == '/';
  const int size = std::snprintf(entry, sizeof entry, "%s=%s%s%s", kVariable, absolute ? "" : directory,
                                 absolute ? "" : "/", self.dli_fname);
  // The one variable that the tracer sets: NVTX knows no other way.
  if (size > 0 && static_cast<std::size_t>(size) < sizeof entry) cuda::add_to_environment(entry);
}

}  // namespace dft::session
