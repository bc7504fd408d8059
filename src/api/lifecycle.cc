// SPDX-License-Identifier: MIT
// Initialisation, finalisation and the notes of the process.
#include "api/site.h"
#include "session/gpu.h"
#include "session/session.h"

namespace session = dft::session;

namespace {
// Runs the tracer's own work on behalf of the application: errno is kept, and an exception (memory refused) ends here.
template <class Work>
void shielded(Work work) noexcept {
  const dft::api::ErrnoKeeper errno_keeper;
  try {
    work();
  } catch (...) {
    return;
  }
}

void initialize(const char* log_file, const char* data_dirs, const int* process_id, bool bind) {
  shielded([&] {
    session::StartRequest request;
    request.producer = session::Producer::kApi;
    request.log_file = log_file;
    request.data_dirs = data_dirs;
    request.process_id = process_id;
    request.bind = bind;
    session::start(request);
  });
}
}  // namespace

extern "C" {

void dftracer_initialize_main(const char* log_file, const char* data_dirs, int* process_id) noexcept {
  initialize(log_file, data_dirs, process_id, true);
}

void dftracer_initialize_no_bind(const char* log_file, const char* data_dirs, int* process_id) noexcept {
  initialize(log_file, data_dirs, process_id, false);
}

void dftracer_finalize() noexcept {
  shielded([] { session::finish_from_api(); });
}

void dftracer_note_worker() noexcept {
  shielded([] { session::note_worker(); });
}

int dftracer_gpu_profiler_begins(const char* name) noexcept {
  bool is_free = true;
  shielded([&] { is_free = session::gpu_profiler_begins(name); });
  return is_free ? 1 : 0;
}

void dftracer_gpu_profiler_ends() noexcept {
  shielded([] { session::gpu_profiler_ends(); });
}

size_t dftracer_nvtx_library(char* out, size_t size) noexcept {
  std::size_t length = 0;
  if (out != nullptr && size != 0) out[0] = '\0';
  shielded([&] { length = session::nvtx_library_to_set(out, out != nullptr ? size : 0); });
  return length;
}

void dftracer_set_app_metadata_int(const char* key, int value) noexcept {
  if (key == nullptr) return;
  shielded([&] { session::set_app_metadata(key, static_cast<std::int64_t>(value)); });
}

void dftracer_set_app_metadata_int64(const char* key, int64_t value) noexcept {
  if (key == nullptr) return;
  shielded([&] { session::set_app_metadata(key, std::int64_t{value}); });
}

void dftracer_set_app_metadata_string(const char* key, const char* value) noexcept {
  if (key == nullptr || value == nullptr) return;
  shielded([&] { session::set_app_metadata(key, std::string_view(value)); });
}

void dftracer_mark_used(const char* name) noexcept {
  if (name == nullptr) return;
  shielded([&] { session::mark_used(name); });
}

TimeResolution dftracer_get_time() noexcept {
  TimeResolution now = 0;
  shielded([&] { now = session::trace_time(); });
  return now;
}

size_t dftracer_get_config(const char* variable, char* out, size_t size) noexcept {
  if (out == nullptr) size = 0;
  std::size_t length = 0;
  if (variable != nullptr) {
    shielded([&] { length = session::configured_value(variable, out, size != 0 ? size - 1 : 0); });
  }
  if (size != 0) out[length < size ? length : size - 1] = '\0';
  return length;
}

DFT_WEAK_ALIAS(initialize_main) void initialize_main(const char*, const char*, int*);
DFT_WEAK_ALIAS(initialize_no_bind) void initialize_no_bind(const char*, const char*, int*);
DFT_WEAK_ALIAS(finalize) void finalize();
DFT_WEAK_ALIAS(set_app_metadata_int) void set_app_metadata_int(const char*, int);
DFT_WEAK_ALIAS(set_app_metadata_string) void set_app_metadata_string(const char*, const char*);
DFT_WEAK_ALIAS(mark_used) void mark_used(const char*);

}  // extern "C"
