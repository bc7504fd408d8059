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

constexpr const char* kVariable = "NVTX_INJECTION64_PATH";
char directory_at_start[4096];

enum class Injection { kUnset, kOurs, kOther };
Injection injection() {
  const char* chosen = config::process_environment(kVariable);
  if (chosen == nullptr) return Injection::kUnset;
  return std::strstr(chosen, "libdftracer_") != nullptr ? Injection::kOurs : Injection::kOther;
}

bool is_on(const char* variable) {
  const char* text = config::process_environment(variable);
  bool on = true;
  if (text != nullptr && text[0] != '\0' && config::parse_bool(text, &on)) return on;
  return true;
}

// What is to be set, while nobody has; like snprintf.
std::size_t path_for_nvtx(char* out, std::size_t size) {
  Dl_info self;
  if (injection() != Injection::kUnset || !is_on("DFTRACER_CUDA") || !is_on("DFTRACER_NVTX") ||
      dladdr(reinterpret_cast<void*>(&InitializeInjectionNvtx2), &self) == 0) {
    return 0;
  }
  const bool absolute = self.dli_fname[0] == '/';
  const int length =
      std::snprintf(out, size, "%s%s%s", absolute ? "" : directory_at_start, absolute ? "" : "/", self.dli_fname);
  return length > 0 ? static_cast<std::size_t>(length) : 0;
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
  const Injection now = injection();
  if (now == Injection::kOurs || !is_on("DFTRACER_NVTX") || !part.settings.wants(gpu::ActivityKind::kMarker)) return;
  gpu::Status status;
  status.state = gpu::Status::State::kPartial;
  status.category = gpu::cupti::backend.category(gpu::ActivityKind::kMarker).data();
  char path[4096 + 64] = {};
  nvtx_library_to_set(path, sizeof path);
  char text[4096 + 192] = "NVTX_INJECTION64_PATH is set to something else";
  if (now == Injection::kUnset) {
    std::snprintf(text, sizeof text,
                  "there were threads already when the tracer came; before the start set NVTX_INJECTION64_PATH=%s",
                  path);
  }
  status.detail = text;
  gpu::cuda_source.status(status);
}

}  // namespace cuda

std::size_t nvtx_library_to_set(char* out, std::size_t size) {
  if (size != 0) *out = '\0';
  return dftracer_on != 0 ? cuda::path_for_nvtx(out, size) : 0;
}

void offer_nvtx(const char* directory) {
  std::snprintf(cuda::directory_at_start, sizeof cuda::directory_at_start, "%s", directory);
  if (__libc_single_threaded == 0) return;
  static char entry[8192];
  const int name = std::snprintf(entry, sizeof entry, "%s=", cuda::kVariable);
  const std::size_t room = sizeof entry - static_cast<std::size_t>(name);
  const std::size_t length = cuda::path_for_nvtx(entry + name, room);
  // The one variable that the tracer sets: NVTX knows no other way.
  if (length != 0 && length < room) cuda::add_to_environment(entry);
}

}  // namespace dft::session
