// SPDX-License-Identifier: MIT
#include "session/gpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/futex_lock.h"
#include "base/log.h"
#include "base/raw_io.h"
#include "encode/json_writer.h"
#include "model/trace_format.h"
#include "record/emit.h"
#include "record/recorder.h"
#include "session/session_state.h"
#include "session/sources.h"
#include "sources/gpu/cupti/backend.h"
#include "sources/gpu/gpu_source.h"
#include "sources/gpu/nvtx.h"
#include "sources/io/io_source.h"

namespace dft::session {

namespace {

using encode::JsonWriter;

enum class Want : std::uint32_t {
  kNothing,   // not recording, switched off, or ended
  kExpected,  // as soon as recording begins; the driver's coming begins it
  kWaiting,   // for the driver
  kStarted,
  kRefused,  // said why
};
std::atomic<Want> want{Want::kNothing};
// Held while the vendor's library starts or ends. Never waited for where the holder may wait for us.
base::FutexLock lock;
gpu::Settings settings;  // written while nothing is wanted, or with the lock held
std::atomic<unsigned long long> objects_seen{0};
__thread bool in_start;  // this thread is inside: the vendor's own dlopens are none of the application's

// Objects that the dynamic linker has loaded so far.
unsigned long long objects_loaded() {
  unsigned long long adds = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* out) {
        *static_cast<unsigned long long*>(out) = object->dlpi_adds;
        return 1;
      },
      &adds);
  return adds;
}

bool driver_may_have_come() {
  if (gpu::cupti::backend.waits_for_driver()) return true;
  const unsigned long long now = objects_loaded();
  return objects_seen.exchange(now, std::memory_order_relaxed) != now;
}

std::string_view name_of(const char* path) {
  if (path == nullptr) return {};
  const std::string_view whole = path;
  return whole.substr(whole.rfind('/') + 1);
}
bool names_driver(const char* path) {
  constexpr std::string_view kStem = "libcuda.so";
  return name_of(path).substr(0, kStem.size()) == kStem;
}
// A look-up that the driver itself makes may hold its locks.
bool is_in_driver(const void* address) {
  Dl_info info;
  if (dladdr(const_cast<void*>(address), &info) == 0) return false;
  return names_driver(info.dli_fname) || name_of(info.dli_fname).substr(0, 10) == "libnvidia-";
}

bool lock_in_time(std::uint64_t timeout_ns) {
  const std::uint64_t until = base::monotonic_ns() + timeout_ns;
  const std::uint32_t never = 0;
  while (!lock.try_lock()) {
    if (base::monotonic_ns() > until) return false;
    base::raw::futex_wait(&never, 0, 1'000'000);
  }
  return true;
}

bool is_this_process() { return settings.pid == base::raw::pid(); }  // not a child that nobody has settled yet

void tell_unrecorded(const char* why) {
  record::ArgList<384> args;
  args.add_string("cause", gpu::loss_cause_name(gpu::LossCause::kUnavailable));
  args.add_string("detail", why);
  record::emit_metadata(record::site_id(model::kLoss, model::kCategoryDftracer, model::Layer::kCuda), args);
}

// The driver is there, but there was no moment at which recording could begin.
void tell_missed_start() {
  if (!gpu::cupti::driver_is_mapped()) return;
  const bool early = gpu::cupti::backend.waits_for_driver();
  const char* why = early ? "CUPTI 13.2 cannot be used before CUDA is up: use another one (DFTRACER_CUPTI_PATH)"
                          : "CUDA was loaded unnoticed: set CUDA_INJECTION64_PATH to the tracer's library";
  tell_unrecorded(why);
  base::LogLine() << "the GPU was not traced: " << why;
}

void stop_in_time() {
  if (!is_this_process()) return;
  const base::SignalGuard signals;
  if (!lock_in_time(settings.exit_timeout_ns)) return;
  const Want before = want.exchange(Want::kNothing, std::memory_order_acq_rel);
  if (before == Want::kWaiting) tell_missed_start();
  if (before == Want::kStarted && !gpu::gpu_source.stop()) {
    base::LogLine() << "the GPU's last records did not come within " << settings.exit_timeout_ns / 1'000'000
                    << " ms (DFTRACER_GPU_EXIT_TIMEOUT_MS): they are missing from the trace";
  }
  lock.unlock();
}

// Registered when CUDA starts, so it runs before what CUDA registered earlier, and before the trace ends.
void at_exit() { stop_in_time(); }

void watch_for_exit() {
  static std::atomic<bool> watched{false};
  if (!watched.exchange(true, std::memory_order_relaxed)) std::atexit(at_exit);
}

std::atomic<bool> noticed_late{false};  // no hook saw the driver come

const char* why_no_ranges = nullptr;  // NVTX will not find this library

void tell_missing_ranges() {
  if (why_no_ranges == nullptr || !settings.wants(gpu::ActivityKind::kMarker)) return;
  gpu::Status status;
  status.state = gpu::Status::State::kPartial;
  status.category = gpu::cupti::backend.category(gpu::ActivityKind::kMarker).data();
  status.detail = why_no_ranges;
  gpu::gpu_source.status(status);
}

template <typename To, typename From>
To same_place(From value) {
  return static_cast<To>(value);
}

// Once: the configuration is read once, and what is wrong in it is said once.
std::uint32_t categories_of(const config::Options& config) {
  static bool known = false;
  static std::uint32_t bits = 0;
  if (known) return bits;
  known = true;
  const std::vector<std::string_view> names(config.cuda_categories.begin(), config.cuda_categories.end());
  std::string_view unknown;
  bits = gpu::category_bits(gpu::cupti::backend, names.data(), names.size(), &unknown);
  if (!unknown.empty()) {
    base::LogLine() << "DFTRACER_CUDA_CATEGORIES: there is no category " << unknown
                    << ": CUDA_KERNEL and the others stand in docs/gpu.md; it is left out";
  }
  return bits;
}

bool is_wanted(const config::Options& config) { return config.cuda && config.init != config::InitMode::kNone; }

void choose_ranges(const config::Options& config) {
  const bool marker = (categories_of(config) >> static_cast<unsigned>(gpu::ActivityKind::kMarker) & 1u) != 0;
  gpu::nvtx::record_ranges(config.cuda && config.nvtx && marker);
}

void fill_settings(const config::Options& config, int pid) {
  settings = gpu::Settings();
  settings.categories = categories_of(config);
  settings.api = same_place<gpu::ApiMode>(config.cuda_api);
  settings.graph = same_place<gpu::GraphMode>(config.cuda_graph);
  settings.kernel_names = same_place<gpu::KernelNames>(config.cuda_kernel_names);
  settings.buffer_size = config.cuda_buffer_size;
  settings.buffer_limit = config.cuda_buffer_limit;
  settings.flush_interval_ns = config.flush_interval_ms * 1'000'000;
  settings.exit_timeout_ns = config.gpu_exit_timeout_ms * 1'000'000;
  settings.time_metric = same_place<model::TimeMetric>(config.time_metric);
  settings.wall_minus_monotonic_ns = base::realtime_minus_monotonic_ns();
  settings.pid = pid;
  settings.library = config.cupti_path.empty() ? nullptr : config.cupti_path.c_str();
  settings.cuda_home = config::process_environment("CUDA_HOME");
  settings.thread_begins = io::pause_io;
}
static_assert(static_cast<int>(config::GpuApi::kNone) == static_cast<int>(gpu::ApiMode::kNone) &&
              static_cast<int>(config::CudaGraph::kNode) == static_cast<int>(gpu::GraphMode::kNode) &&
              static_cast<int>(config::KernelNames::kMangled) == static_cast<int>(gpu::KernelNames::kMangled));

// REQUIRES: the driver is mapped; not inside it.
void start_with_driver() {
  const SourcesPaused paused;
  const int kept = errno;
  in_start = true;
  if (want.load(std::memory_order_acquire) == Want::kExpected) record::recorder.on_inactive();
  {
    const base::SignalGuard signals;  // the threads that the vendor's library makes inherit this mask
    if (want.load(std::memory_order_acquire) == Want::kWaiting && lock.try_lock()) {
      if (want.load(std::memory_order_acquire) == Want::kWaiting) {
        const bool on = gpu::gpu_source.start(settings, gpu::cupti::backend);
        const Want otherwise = gpu::cupti::backend.waits_for_driver() ? Want::kWaiting : Want::kRefused;
        want.store(on ? Want::kStarted : otherwise, std::memory_order_release);
        if (on) watch_for_exit();
        if (on) tell_missing_ranges();
        if (on && noticed_late.load(std::memory_order_relaxed)) {
          tell_unrecorded("CUDA was loaded unnoticed: what it did before this is missing");
        }
      }
      lock.unlock();
    }
  }
  in_start = false;
  errno = kept;
}

bool is_waiting() {
  const Want now = want.load(std::memory_order_acquire);
  return (now == Want::kWaiting || now == Want::kExpected) && !in_start;
}

}  // namespace

void expect_gpu(const config::Options& config) {
  choose_ranges(config);
  if (is_wanted(config)) want.store(Want::kExpected, std::memory_order_release);
}

void allow_gpu(const config::Options& config, int pid) {
  const Want before = want.load(std::memory_order_acquire);
  if (before != Want::kNothing && before != Want::kExpected) return;
  choose_ranges(config);
  if (!is_wanted(config)) return;
  fill_settings(config, pid);
  objects_seen.store(0, std::memory_order_relaxed);
  noticed_late.store(false, std::memory_order_relaxed);
  want.store(Want::kWaiting, std::memory_order_release);
}

void end_gpu() {
  if (want.load(std::memory_order_acquire) != Want::kNothing) stop_in_time();
}

void gpu_in_child() {
  lock.reset_after_fork();
  want.store(Want::kNothing, std::memory_order_relaxed);
  in_start = false;
  gpu::nvtx::in_forked_child();
  gpu::gpu_source.in_forked_child();
}

void start_gpu() {
  if (is_waiting() && driver_may_have_come() && gpu::cupti::driver_is_mapped()) start_with_driver();
}

void gpu_before_dlopen(const char* file, int flags, const void* caller) {
  if (!is_waiting()) return;
  if (names_driver(file) && (flags & RTLD_NOLOAD) == 0) {
    const int kept = errno;
    in_start = true;
    const bool there = dlopen(file, flags) != nullptr;
    if (!there) dlerror();  // the application's own dlopen finds it, or the reason
    in_start = false;
    errno = kept;
  }
  gpu_before_dlsym(caller);
}

void gpu_before_dlsym(const void* caller) {
  if (is_waiting() && !is_in_driver(caller)) start_gpu();
}

bool flush_gpu(std::uint64_t timeout_ns) { return !is_this_process() || gpu::gpu_source.flush(timeout_ns); }

void forget_gpu() { want.store(Want::kNothing, std::memory_order_release); }

void look_for_driver() {
  static unsigned long long seen = 0;
  if (want.load(std::memory_order_acquire) != Want::kWaiting) return;
  const unsigned long long now = objects_loaded();
  if (now == seen && !gpu::cupti::backend.waits_for_driver()) return;
  seen = now;
  if (!gpu::cupti::driver_is_mapped()) return;
  noticed_late.store(true, std::memory_order_relaxed);
  request_service();
}

void append_gpu_choice(base::Buffer& out) {
  JsonWriter json(out);
  const bool on = want.load(std::memory_order_acquire) != Want::kNothing || gpu::gpu_source.summary().started;
  json.key("cuda").begin_object().key("on").flag(on);
  static constexpr const char* kApi[] = {"quiet", "all", "none"};
  static constexpr const char* kGraph[] = {"graph", "node"};
  static constexpr const char* kNames[] = {"full", "short", "mangled"};
  json.key("api").string(kApi[static_cast<unsigned>(settings.api)]);
  json.key("graph").string(kGraph[static_cast<unsigned>(settings.graph)]);
  json.key("kernel_names").string(kNames[static_cast<unsigned>(settings.kernel_names)]);
  json.key("buffer_size").number(std::uint64_t{settings.buffer_size});
  json.key("buffer_limit").number(std::uint64_t{settings.buffer_limit});
  json.key("categories").begin_object();
  for (unsigned kind = 0; kind < gpu::kActivityKinds; ++kind) {
    const auto known = static_cast<gpu::ActivityKind>(kind);
    json.key(gpu::cupti::backend.category(known)).flag(settings.wants(known));
  }
  json.end_object().end_object();
}

void append_gpu_losses(base::Buffer& out) {
  const gpu::Summary summary = gpu::gpu_source.summary();
  JsonWriter json(out);
  for (unsigned i = 0; i < gpu::kLossCauses; ++i) {
    const std::uint64_t count = summary.counts.losses[i];
    if (count != 0) json.key(gpu::loss_cause_name(static_cast<gpu::LossCause>(i))).number(count);
  }
}

void append_gpu_summary(base::Buffer& out) {
  const gpu::Summary summary = gpu::gpu_source.summary();
  if (!summary.started) return;
  JsonWriter json(out);
  json.key("gpu").begin_object().key("backend").string(gpu::cupti::backend.name());
  json.key("library").string(gpu::cupti::backend.library());
  json.key("library_version").number(std::uint64_t{gpu::cupti::backend.version()});
  json.key("driver_cuda").number(std::uint64_t{gpu::cupti::backend.driver_cuda()});
  json.key("records").begin_object();
  for (unsigned kind = 0; kind < gpu::kActivityKinds; ++kind) {
    const std::uint64_t count = summary.counts.records[kind];
    if (count != 0) json.key(gpu::cupti::backend.category(static_cast<gpu::ActivityKind>(kind))).number(count);
  }
  json.end_object().key("clock_suspect").begin_object();
  for (unsigned i = 1; i < gpu::kSuspects; ++i) {
    const std::uint64_t count = summary.counts.suspects[i];
    if (count != 0) json.key(gpu::suspect_name(static_cast<gpu::Suspect>(i))).number(count);
  }
  json.end_object().key("buffers").number(std::uint64_t{summary.buffers});
  json.key("buffer_bytes").number(std::uint64_t{summary.buffer_bytes}).end_object();
}

namespace {

bool is_on(const char* variable) {
  const char* text = config::process_environment(variable);
  bool on = true;
  if (text != nullptr && text[0] != '\0' && config::parse_bool(text, &on)) return on;
  return true;
}

}  // namespace

}  // namespace dft::session

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

namespace {

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

void offer_nvtx(const char* directory) {
  constexpr const char* kVariable = "NVTX_INJECTION64_PATH";
  if (!is_on("DFTRACER_CUDA") || !is_on("DFTRACER_NVTX")) return;
  if (const char* chosen = config::process_environment(kVariable)) {
    if (std::strstr(chosen, "libdftracer_") == nullptr)
      why_no_ranges = "NVTX_INJECTION64_PATH is set to something else";
    return;
  }
  if (__libc_single_threaded == 0) {
    why_no_ranges = "the tracer was loaded when there were threads already: set NVTX_INJECTION64_PATH to its library";
    return;
  }
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&InitializeInjectionNvtx2), &self) == 0) return;
  static char entry[8192];
  const bool absolute = self.dli_fname[0] == '/';
  const int size = std::snprintf(entry, sizeof entry, "%s=%s%s%s", kVariable, absolute ? "" : directory,
                                 absolute ? "" : "/", self.dli_fname);
  // The one variable that the tracer sets: NVTX knows no other way.
  if (size > 0 && static_cast<std::size_t>(size) < sizeof entry) add_to_environment(entry);
}

}  // namespace dft::session
