// SPDX-License-Identifier: MIT
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "base/clock.h"
#include "base/error_output.h"
#include "base/log.h"
#include "base/own_stack.h"
#include "base/raw_io.h"
#include "record/emit.h"
#include "record/recorder.h"
#include "session/binding.h"
#include "session/gpu.h"
#include "session/identity.h"
#include "session/lifecycle.h"
#include "session/notes.h"
#include "session/session_state.h"
#include "session/sources.h"
#include "write/drain.h"

int dftracer_on = 0;

// Defined by the dftracer command: tools that read traces are not traced, even under an exported LD_PRELOAD.
extern "C" __attribute__((weak, visibility("default"))) int dftracer_tool_process;

namespace dft::session {

namespace raw = base::raw;
using record::recorder;

State state;

namespace {

constexpr std::uint64_t kQuiesceNs = 1'000'000'000;
constexpr std::uint64_t kHandlerQuiesceNs = 200'000'000;
constexpr std::uint64_t kHandlerGpuPatienceNs = 2'000'000'000;
constexpr std::uint64_t kHandlerPatienceNs = 5'000'000'000;

// Constructed in place and never destroyed: it must work after static destruction.
alignas(Notes) char notes_memory[sizeof(Notes)];
bool notes_made = false;
Notes& notes() {
  if (!notes_made) {
    new (notes_memory) Notes;
    notes_made = true;
  }
  return *reinterpret_cast<Notes*>(notes_memory);
}

// A plain int for C's sake; every access is atomic, since the macros read it on any thread at any time.
void set_on(bool on) { __atomic_store_n(&dftracer_on, on ? 1 : 0, __ATOMIC_RELAXED); }
bool is_on() { return __atomic_load_n(&dftracer_on, __ATOMIC_RELAXED) != 0; }

void tick() {
  bind_complete_libraries();
  look_at_objects(look_for_driver);
}

void turn_off() {
  stop_sources();
  state.phase.store(Phase::kOff, std::memory_order_release);
  set_on(false);
  if (state.generation.load(std::memory_order_relaxed) == 0) dft_process_hooks.store(nullptr);
}

void note_configuration_file() {
  const char* file = config::process_environment("DFTRACER_CONFIGURATION");
  const std::size_t size = file != nullptr ? std::strlen(file) + 1 : 0;
  if (size != 0 && size <= sizeof state.configuration) std::memcpy(state.configuration, file, size);
}

const config::Options* options() {
  if (state.config == nullptr) {
    auto* loaded = new config::Loaded(config::load(&config::process_environment, environ));
    state.config = loaded;
    note_configuration_file();
    base::set_log_level(loaded->options.log_level);
    for (const std::string& note : loaded->notes) base::LogLine() << note;
  }
  return &state.config->options;
}

std::string_view suffix_of(Producer producer) {
  switch (producer) {
    case Producer::kPreload: return "preload";
    case Producer::kFork: return "fork";
    case Producer::kApi: break;
  }
  return "app";
}

std::string absolute_prefix(const StartRequest& request, const config::Options& config, const std::string& cwd) {
  if (request.log_file != nullptr && request.log_file[0] != '\0') {
    return make_absolute(strip_extension(request.log_file), cwd);
  }
  return make_absolute(config.log_file, state.start_directory[0] != '\0' ? state.start_directory : cwd.c_str());
}

model::TimeMetric metric_of(config::TimeMetric metric) {
  switch (metric) {
    case config::TimeMetric::kNs: return model::TimeMetric::kNs;
    case config::TimeMetric::kMs: return model::TimeMetric::kMs;
    case config::TimeMetric::kSec: return model::TimeMetric::kSec;
    case config::TimeMetric::kUs: break;
  }
  return model::TimeMetric::kUs;
}

bool fill_drain_options(const StartRequest& request, const config::Options& config, const Identity& identity, int pid,
                        write::DrainOptions* out) {
  const std::string prefix = absolute_prefix(request, config, identity.cwd);
  if (prefix.empty()) {
    base::LogLine() << "cannot create the trace: its prefix is relative and the current directory was deleted: set "
                       "DFTRACER_LOG_FILE to an absolute path: this process is not traced";
    return false;
  }
  const std::string stem = trace_stem(prefix, identity, pid, suffix_of(request.producer));
  if (prefix.size() < sizeof state.prefix) {
    std::memcpy(state.prefix, prefix.c_str(), prefix.size() + 1);
    const bool of_call = request.producer == Producer::kApi && request.log_file != nullptr && *request.log_file != '\0';
    if (of_call) std::memcpy(state.prefix_of_call, state.prefix, prefix.size() + 1);
  }
  if (stem.size() >= sizeof out->writer.stem) {
    base::LogLine() << "cannot create the trace: the prefix has " << std::uint64_t{stem.size()}
                    << " bytes, more than a path may have: set DFTRACER_LOG_FILE to a shorter one";
    return false;
  }
  std::memcpy(out->writer.stem, stem.c_str(), stem.size() + 1);
  out->writer.compression = config.compression;
  out->writer.block_size = config.write_buffer_size;
  out->writer.encoder.pid = pid;
  std::memcpy(out->writer.encoder.host_hash, notes().host_hash(), sizeof out->writer.encoder.host_hash);
  out->writer.encoder.metadata = config.metadata;
  out->writer.encoder.include_tids = config.tids;
  out->writer.encoder.time_metric = metric_of(config.time_metric);
  out->flush_interval_ms = config.flush_interval_ms;
  out->on_start = pause_sources_of_thread;
  out->on_interval = tick;
  out->crash_safe = config.crash_safe;
  return true;
}

// REQUIRES: lock held; with `bind`, the calls are bound.
void start_requested_sources(const StartRequest& request, std::string_view own_prefix) {
  if (!request.bind) return;
  if (request.data_dirs != nullptr && std::strlen(request.data_dirs) < sizeof state.dirs_of_call) {
    std::strcpy(state.dirs_of_call, request.data_dirs);
  }
  start_sources(*options(), own_prefix, request.data_dirs != nullptr ? request.data_dirs : "");
}

Interception interception() {
  const bool io = io_is_traced();
  return {calls_are_bound(), io && options()->posix, io && options()->stdio};
}

// REQUIRES: lock held, phase not kRecording.
bool start_recording(const StartRequest& request) {
  const config::Options& config = *options();
  if (!config.enable) {
    turn_off();
    return false;
  }
  if (!recorder.prepare()) throw std::bad_alloc();
  const int pid = raw::pid();
  const Identity identity = read_identity();
  base::clock_start(config.clock != config::ClockChoice::kMonotonic);
  start_requested_sources(request, absolute_prefix(request, config, identity.cwd));
  notes().prepare({config, identity, pid, static_cast<int>(getppid()), interception(), request.process_id});
  write::DrainOptions drain_options;
  if (!fill_drain_options(request, config, identity, pid, &drain_options)) {
    turn_off();
    return false;
  }
  record::PoolOptions pool;
  pool.limit_bytes = config.buffer_limit;
  pool.wait = config.buffer_mode == config::BufferMode::kWait;
  pool.longest_wait_ns = config.exit_timeout_ms * 1'000'000;
  recorder.pool.configure(pool);
  const int error = write::drain.start(drain_options, notes());
  if (error == -ENOMEM) throw std::bad_alloc();
  if (error != 0) {
    turn_off();
    return false;
  }
  state.pid = pid;
  state.producer = request.producer;
  state.child = false;
  state.generation.fetch_add(1, std::memory_order_release);
  state.phase.store(Phase::kRecording, std::memory_order_release);
  set_on(true);
  recorder.start(pid);
  if (config.bind_signals) bind_fatal_signals();
  allow_gpu(config, pid);
  return true;
}

bool start_guarded(const StartRequest& request) {
  try {
    return start_recording(request);
  } catch (...) {
    base::LogLine() << "cannot start recording: out of memory: this process is not traced";
    turn_off();
    return false;
  }
}

bool this_process_records() {
  return state.phase.load(std::memory_order_acquire) == Phase::kRecording && state.pid == raw::pid();
}

std::uint64_t exit_timeout_ns() {
  return (state.config != nullptr ? state.config->options.exit_timeout_ms : 10'000) * 1'000'000;
}

// False when the drain is still at work: it may hold what it needs for ever, and nothing may start beside it.
bool finish_as(Phase phase) {
  end_gpu();
  const bool finished = write::drain.finish(exit_timeout_ns(), kQuiesceNs);
  if (!finished) {
    phase = Phase::kEnded;
    set_on(false);
    base::LogLine() << "the trace " << write::drain.path() << " was not finished within "
                    << exit_timeout_ns() / 1'000'000 << " ms (DFTRACER_EXIT_TIMEOUT_MS): its last events are missing";
  }
  state.phase.store(phase, std::memory_order_release);
  return finished;
}

void tell_ignored_prefix(const char* prefix) {
  base::LogLine(base::LogLevel::kWarn) << "the init call's log file " << prefix
                                       << " is not used: the preloaded tracer's is (DFTRACER_LOG_FILE)";
}

// `dftracer run` counts the processes that recorded nothing: each appends one byte to the file that it names.
void tell_tally() {
  const char* tally = config::process_environment("DFTRACER_RUN_TALLY");
  if (tally == nullptr) return;
  const int fd = raw::open(tally, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0);
  if (fd < 0) return;
  raw::write_all(fd, ".", 1, nullptr);
  raw::close(fd);
}

// Who really starts: a forked child of a recording process, or the preload library ahead of the program's own call. A
// child's traces stand beside its parent's.
StartRequest adjusted(StartRequest request) {
  if (state.child) {
    request.producer = Producer::kFork;
    if (request.log_file == nullptr || request.log_file[0] == '\0') request.log_file = state.prefix;
  }
  if (!state.child && state.preloaded) {
    if (request.log_file != nullptr && request.log_file[0] != '\0') tell_ignored_prefix(request.log_file);
    request.producer = Producer::kPreload;
    request.log_file = nullptr;
  }
  return request;
}

// No more calls become events. Only the process that was started says that its lists leave out everything: forked
// children, of which there may be thousands, have the same ones.
void end_sources() {
  if (!io_is_traced()) return;
  stop_sources();
  if (state.load_pid == raw::pid()) tell_filtered();
}

// Whether this init call is to bind the calls of the process. The configuration is read for it.
bool wants_binding(const StartRequest& request) {
  if (!request.bind) return false;
  const base::LockGuard guard(state.lock);
  if (state.phase.load(std::memory_order_relaxed) == Phase::kEnded || state.preloaded) return false;
  return options()->enable && options()->init == config::InitMode::kFunction;
}

void on_forked() {
  const base::SignalGuard signals;
  if (!recorder.claim_child()) return;
  state.lock.reset_after_fork();
  become_forked_child();
}

// An event while nothing is recorded: the first one of this process, or of a forked child.
bool start_at_first_event() {
  if (write::drain.is_starting_on_this_thread()) return false;  // the lock's holder waits for it
  recorder.settle_child();
  const base::SignalGuard signals;  // longer than the pause: a handler may leave by siglongjmp
  const SourcesPaused paused;
  const base::LockGuard guard(state.lock);
  if (recorder.prepare() && state.pid != 0 && state.pid != raw::pid()) become_forked_child();
  const Phase phase = state.phase.load(std::memory_order_relaxed);
  if (phase == Phase::kRecording) return true;
  if (phase != Phase::kIdle) return false;
  return base::on_own_stack([] { return start_guarded(adjusted({})); });
}

bool on_first_event() {
  if (!start_at_first_event()) return false;
  if (!io_is_traced()) start_gpu();  // else it may be a call of the driver's own, which holds its locks
  return true;
}

bool has_loaded = false;

// Runs when the library is loaded. When nothing asks for tracing it has read two variables and is done.
__attribute__((constructor)) void on_load() {
  has_loaded = true;
  if (&dftracer_tool_process != nullptr || !config::maybe_enabled(&config::process_environment)) return;
  base::note_error_output();
  if (!install_lifecycle_hooks()) {
    base::LogLine() << "cannot watch for forks: out of memory: this process is not traced";
    return;
  }
  recorder.on_inactive = on_first_event;
  dft_process_hooks.store(&lifecycle_hooks, std::memory_order_release);
  recorder.on_forked = on_forked;
  recorder.on_main_thread_exit = [] {
    const base::LockGuard guard(state.lock);  // another thread may be ending the trace
    write::drain.hand_over();
  };
  state.load_pid = raw::pid();
  if (raw::tid() == state.load_pid) recorder.watch_this_thread();
  current_directory(state.start_directory, sizeof state.start_directory);
  offer_nvtx(state.start_directory);
  state.phase.store(Phase::kIdle, std::memory_order_relaxed);
  set_on(true);
}

__attribute__((destructor)) void on_unload() { finish_process(); }

// A start while recording: what was missing is added.
bool join_recording(const StartRequest& request) {
  const bool has_prefix = request.log_file != nullptr && request.log_file[0] != '\0';
  if (has_prefix && state.producer == Producer::kPreload) tell_ignored_prefix(request.log_file);
  if (!io_is_traced()) start_requested_sources(request, state.prefix);
  notes().set_interception(interception());
  return true;
}

// The preload library records from the first event on, whichever it is. False when it is not to.
bool expect_events() {
  const base::LockGuard guard(state.lock);
  const config::Options& config = *options();
  if (!config.enable) {
    turn_off();
    return false;
  }
  state.preloaded = config.init == config::InitMode::kPreload || config.init == config::InitMode::kHybrid;
  if (!state.preloaded) return false;
  start_sources(config, absolute_prefix({}, config, state.start_directory), {});
  expect_gpu(config);
  return true;
}

bool start_bound(const StartRequest& request) {
  const base::LockGuard guard(state.lock);
  if (state.pid != 0 && state.pid != raw::pid()) become_forked_child();
  const Phase phase = state.phase.load(std::memory_order_relaxed);
  if (phase == Phase::kRecording) return join_recording(request);
  if (phase == Phase::kOff || phase == Phase::kEnded) return false;
  return start_guarded(adjusted(request));
}

// What takes more stack than the thread may have. In a child of vfork nothing of this is called.
template <class Body>
bool with_lock(Body body) {
  const base::LockGuard guard(state.lock);
  return base::on_own_stack(body);
}

bool end_at_exit() {
  if (!this_process_records()) return false;
  end_sources();
  finish_as(Phase::kEnded);
  set_on(false);
  return true;
}

bool end_for_exec() {
  if (!this_process_records()) return false;
  finish_as(Phase::kFinished);
  return true;
}

// At a FINI call.
bool end_or_flush() {
  if (!this_process_records()) return false;
  if (state.preloaded) {
    flush_gpu(exit_timeout_ns());
    write::drain.flush(exit_timeout_ns());
    return true;
  }
  end_sources();
  const bool finished = finish_as(Phase::kFinished);
  set_on(false);  // only an init call starts again
  if (finished) notes().clear();
  return finished;
}

}  // namespace

const config::Options* configured_options() {
  const Phase phase = state.phase.load(std::memory_order_relaxed);
  return phase == Phase::kOff || phase == Phase::kEnded ? nullptr : options();
}

bool constructors_have_run() { return has_loaded; }

bool start(const StartRequest& request) {
  if (!is_on() && state.phase.load(std::memory_order_acquire) != Phase::kFinished) return false;
  recorder.settle_child();
  {
    const base::SignalGuard signals;  // longer than the pause, as above
    const SourcesPaused paused;
    const bool started = base::on_own_stack([&] {
      StartRequest bound = request;
      bound.bind = wants_binding(request) && bind_calls(state.config->options);
      return start_bound(bound);
    });
    if (!started) return false;
  }
  const SourcesPaused paused;
  start_gpu();
  return true;
}

void note_preload() {
  if (!is_on()) return;
  const SourcesPaused paused;
  if (expect_events()) start_gpu();
}

void finish_from_api() {
  recorder.settle_child();
  const base::SignalGuard signals;  // longer than the pause, as above
  const SourcesPaused paused;
  with_lock(end_or_flush);
}

void finish_process() {
  const SourcesPaused paused;
  const bool idle = state.phase.load(std::memory_order_acquire) == Phase::kIdle;
  if (idle && state.preloaded && state.load_pid == raw::pid()) {
    set_on(false);
    state.phase.store(Phase::kEnded, std::memory_order_release);
    end_sources();
    tell_tally();
  }
  if (this_process_records()) with_lock(end_at_exit);
}

bool finish_for_exec() {
  const SourcesPaused paused;
  return this_process_records() && with_lock(end_for_exec);
}

void resume_after_exec(bool was_recording) {
  if (!was_recording) return;
  const SourcesPaused paused;
  StartRequest request;
  request.producer = state.producer;
  request.log_file = state.prefix;
  {
    const base::LockGuard guard(state.lock);
    if (!base::on_own_stack([&] { return start_guarded(request); })) return;
  }
  start_gpu();
}

// A handler must not wait for a lock that the interrupted thread may hold: it only asks the drain and waits a bounded
// time.
void flush_in_handler() {
  if (!this_process_records()) return;
  flush_gpu(kHandlerGpuPatienceNs);
  write::drain.flush(kHandlerPatienceNs);
}

void finish_in_handler() {
  if (!this_process_records()) return;
  flush_gpu(kHandlerGpuPatienceNs);
  forget_gpu();
  write::drain.finish(kHandlerPatienceNs, kHandlerQuiesceNs);
  state.phase.store(Phase::kEnded, std::memory_order_release);
  set_on(false);
}

void become_forked_child() {
  const Phase before = state.phase.load(std::memory_order_relaxed);
  recorder.reset_in_child();
  write::drain.reset_in_child();
  base::forget_deferred_log();
  if (notes_made) notes().reset_after_fork();
  bindings_in_child();
  sources_in_child();
  state.pid = raw::pid();
  if (before == Phase::kRecording) {
    state.child = true;
    state.phase.store(Phase::kIdle, std::memory_order_relaxed);
    set_on(true);
  }
  recorder.child_settled();
}

void request_service() {
  int on = 1;
  __atomic_compare_exchange_n(&dftracer_on, &on, kServiceWanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void serve_request() noexcept {
  int wanted = kServiceWanted;
  if (!__atomic_compare_exchange_n(&dftracer_on, &wanted, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
  const SourcesPaused paused;
  start_gpu();
}

std::uint64_t file_generation() { return state.generation.load(std::memory_order_acquire); }

void note_worker() {
  if (is_on()) bind_termination();
}

std::uint64_t unit_ns() {
  if (state.config == nullptr) return 1000;
  switch (state.config->options.time_metric) {
    case config::TimeMetric::kNs: return 1;
    case config::TimeMetric::kMs: return 1'000'000;
    case config::TimeMetric::kSec: return 1'000'000'000;
    case config::TimeMetric::kUs: break;
  }
  return 1000;
}

std::uint64_t trace_time() {
  if (!is_on() || (!record::recording() && !on_first_event())) return 0;
  const auto offset = static_cast<std::uint64_t>(write::drain.wall_minus_monotonic_ns());
  return (base::monotonic_ns() + offset) / unit_ns();
}

std::size_t configured_value(std::string_view variable, char* out, std::size_t room) {
  if (!is_on()) return 0;
  std::string value;
  {
    const base::LockGuard guard(state.lock);
    value = variable == "DFTRACER_LOG_FILE" && state.prefix[0] != '\0' ? std::string(state.prefix)
                                                                       : config::value_of(*options(), variable);
  }
  const std::size_t copied = value.size() < room ? value.size() : room;
  if (copied != 0) std::memcpy(out, value.data(), copied);
  return value.size();
}

void mark_used(std::string_view layer) {
  if (is_on()) notes().mark_used(layer);
}

void set_app_metadata(std::string_view key, std::int64_t value) {
  if (is_on()) notes().set_app(key, value);
}

void set_app_metadata(std::string_view key, std::string_view value) {
  if (is_on()) notes().set_app(key, value);
}

}  // namespace dft::session
