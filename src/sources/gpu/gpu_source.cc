// SPDX-License-Identifier: MIT
#include "sources/gpu/gpu_source.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "base/futex_lock.h"
#include "base/raw_io.h"
#include "record/emit.h"
#include "sources/gpu/demangle.h"

namespace dft::gpu {

namespace {

// Between samples of the clocks: dense enough for any slew, rare enough that their noise stays far below a tick per
// microsecond.
constexpr std::uint64_t kSampleEveryNs = 10'000'000;

// At the end: how long work that still runs on the device is waited for, in all and without any progress. What runs
// then is recorded without an end.
constexpr std::uint64_t kLongestWaitNs = 2'000'000'000;
constexpr std::uint64_t kNoProgressNs = 200'000'000;
constexpr std::uint64_t kAskEveryNs = 1'000'000;

alignas(GpuSource) unsigned char memory[2][sizeof(GpuSource)];

std::uint64_t realtime_ns() {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

// Callbacks of the vendor may come after static destructors have run.
GpuSource& cuda_source = *new (memory[0]) GpuSource;
GpuSource& hip_source = *new (memory[1]) GpuSource;

bool GpuSource::start(const Settings& settings, Backend& backend) {
  if (state_.load(std::memory_order_acquire) != State::kIdle) return running();
  settings_ = settings;
  backend_ = &backend;
  started_ = true;
  if (!pool_.reserve(settings.buffer_size, settings.buffer_limit, &GpuSource::wake, this)) {
    Status refused;
    refused.detail = "no address space for the buffers";
    status(refused);
    return false;
  }
  pool_.open();
  clock_.clear();
  writer_.configure(settings, backend, clock_);
  if (paused_at_ns_ == 0) writer_.forget_counts();
  if (!backend.start(settings, pool_, *this)) {
    pool_.close();
    return false;
  }
  take_sample(true);
  if (!start_thread()) {
    backend.stop();
    backend.release();
    pool_.close();
    Status refused;
    refused.detail = "no thread";
    status(refused);
    return false;
  }
  return true;
}

bool GpuSource::start_thread() {
  const base::SignalGuard signals;  // the new thread inherits the mask
  state_.store(State::kRunning, std::memory_order_release);
  // Whatever the application's limit is.
  pthread_attr_t attributes;
  bool made = pthread_attr_init(&attributes) == 0;
  if (made) {
    made = pthread_attr_setstacksize(&attributes, kDemangleStack) == 0 &&
           pthread_create(&thread_, &attributes, &GpuSource::thread_main, this) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (!made) state_.store(State::kIdle, std::memory_order_release);
  return made;
}

void* GpuSource::thread_main(void* self) {
  pthread_setname_np(pthread_self(), "dftracer-gpu");
  auto* source = static_cast<GpuSource*>(self);
  if (source->settings_.thread_begins != nullptr) source->settings_.thread_begins();
  source->run();
  return nullptr;
}

void GpuSource::wake(void* self) { static_cast<GpuSource*>(self)->wake_thread(); }

void GpuSource::wake_thread() {
  wake_.fetch_add(1, std::memory_order_seq_cst);
  if (sleeping_.load(std::memory_order_seq_cst) != 0) base::raw::futex_wake(&wake_, 1);
}

void GpuSource::run() {
  std::uint64_t next_flush = base::monotonic_ns() + settings_.flush_interval_ns;
  while (stop_asked_.load(std::memory_order_acquire) == stops_) {
    const std::uint32_t seen = wake_.load(std::memory_order_seq_cst);
    const std::uint32_t asked = flush_asked_.load(std::memory_order_acquire);
    const std::uint64_t now = base::monotonic_ns();
    const bool flush = asked != flush_done_.load(std::memory_order_relaxed) || now >= next_flush;
    pass(flush);
    if (flush) {
      next_flush = base::monotonic_ns() + settings_.flush_interval_ns;
      flush_done_.store(asked, std::memory_order_release);
      base::raw::futex_wake(&flush_done_, 1 << 30);
    }
    if (stop_asked_.load(std::memory_order_acquire) != stops_) break;
    sleeping_.store(1, std::memory_order_seq_cst);
    const std::uint64_t left = base::monotonic_ns();
    if (wake_.load(std::memory_order_seq_cst) == seen && next_flush > left) {
      base::raw::futex_wait(&wake_, seen, next_flush - left);
    }
    sleeping_.store(0, std::memory_order_relaxed);
  }
  end_of_recording();
}

void GpuSource::pass(bool flush) {
  if (flush) {
    backend_->flush(false);
    take_sample(true);
    emit_clock(0);
  }
  drain_buffers();
  if (flush) collect_losses();
}

void GpuSource::drain_buffers() {
  bool first = true;
  pool_.drain([&](const RawBuffer& buffer) {
    if (first) take_sample(false);
    first = false;
    writer_.arrived_at(buffer.arrival_ns + static_cast<std::uint64_t>(vendor_minus_realtime_));
    backend_->decode(buffer, writer_);
  });
}

void GpuSource::take_sample(bool always) {
  if (!always && clock_.count() > 1 && base::monotonic_ns() - clock_.last().monotonic_ns < kSampleEveryNs) return;
  const ClockSample sample = GpuClock::sample([this] { return backend_->now_ns(); });
  vendor_minus_realtime_ = static_cast<std::int64_t>(backend_->now_ns() - realtime_ns());
  const std::int64_t step = clock_.add(sample);
  if (step != 0) emit_clock(step);
}

void GpuSource::emit_clock(std::int64_t step) const {
  const ClockSample& sample = clock_.last();
  record::ArgList<256> args;
  args.add_string("source", backend_->clock_name());
  args.add_uint64("a_ns", sample.vendor_ns);
  args.add_uint64("b_ns", sample.monotonic_ns + static_cast<std::uint64_t>(settings_.wall_minus_monotonic_ns));
  args.add_uint64("bracket_ns", sample.bracket_ns);
  if (step != 0) args.add_int64("step_ns", step);
  record::emit_metadata(record::site_id(model::kClockSample, model::kCategoryDftracer, backend_->layer()), args);
}

void GpuSource::collect_losses() {
  backend_->collect_losses(writer_);
  const std::uint64_t scratch = pool_.take_scratch_bytes();
  if (scratch != 0) writer_.loss(LossCause::kDropped, 0, scratch, "no buffer left: DFTRACER_CUDA_BUFFER_LIMIT");
  pool_.take_refused();  // the library counts what it drops then
  const std::uint64_t late = pool_.take_late();
  if (late != 0) writer_.loss(LossCause::kLate, 0, late * pool_.buffer_bytes(), "buffers after the end of recording");
  const std::uint64_t foreign = pool_.take_foreign();
  if (foreign != 0) writer_.loss(LossCause::kUndecodable, 0, 0, "buffers of another client were left alone");
}

std::uint64_t GpuSource::work_recorded() const {
  std::uint64_t sum = writer_.counts().named_work;
  for (const ActivityKind kind : {ActivityKind::kKernel, ActivityKind::kMemcpy, ActivityKind::kMemcpyP2p,
                                  ActivityKind::kMemset, ActivityKind::kGraph}) {
    sum += writer_.counts().records[static_cast<unsigned>(kind)];
  }
  return sum;
}

// The library gives a buffer back when all its records are complete. The device is not synchronised: that may never
// end.
void GpuSource::wait_for_running_work() {
  const std::uint64_t begin = base::monotonic_ns();
  std::uint64_t last_change = begin;
  std::uint64_t recorded = work_recorded();
  std::uint32_t fewest = ~0u;  // buffers come and go for the library's own reasons
  for (;;) {
    const std::uint32_t seen = wake_.load(std::memory_order_seq_cst);
    backend_->flush(false);
    drain_buffers();
    const std::uint32_t left = pool_.outstanding();
    const std::uint64_t now = base::monotonic_ns();
    if (left < fewest || work_recorded() != recorded) last_change = now;
    if (left < fewest) fewest = left;
    recorded = work_recorded();
    if ((left == 0 && !backend_->work_is_left()) || now - begin > kLongestWaitNs || now - last_change > kNoProgressNs)
      return;
    sleeping_.store(1, std::memory_order_seq_cst);
    base::raw::futex_wait(&wake_, seen, kAskEveryNs);
    sleeping_.store(0, std::memory_order_relaxed);
  }
}

void GpuSource::end_of_recording() {
  backend_->wind_down();
  wait_for_running_work();
  backend_->stop();
  take_sample(true);
  drain_buffers();
  pool_.close();
  drain_buffers();
  collect_losses();
  backend_->release();
  emit_clock(0);
  // Who waits for a flush meanwhile has it.
  flush_done_.store(flush_asked_.load(std::memory_order_acquire), std::memory_order_release);
  base::raw::futex_wake(&flush_done_, 1 << 30);
  stop_done_.store(stop_asked_.load(std::memory_order_acquire), std::memory_order_release);
  base::raw::futex_wake(&stop_done_, 1 << 30);
}

bool GpuSource::wait_for(std::atomic<std::uint32_t>& word, std::uint32_t at_least, std::uint64_t timeout_ns) {
  const std::uint64_t until = base::monotonic_ns() + timeout_ns;
  for (;;) {
    const std::uint32_t value = word.load(std::memory_order_acquire);
    if (static_cast<std::int32_t>(value - at_least) >= 0) return true;
    const std::uint64_t now = base::monotonic_ns();
    if (now >= until) return false;
    base::raw::futex_wait(&word, value, until - now);
  }
}

bool GpuSource::flush(std::uint64_t timeout_ns) {
  if (!running()) return true;
  const std::uint32_t number = flush_asked_.fetch_add(1, std::memory_order_acq_rel) + 1;
  wake_thread();
  return wait_for(flush_done_, number, timeout_ns);
}

bool GpuSource::stop() {
  if (!running()) {
    tell_gap();
    return true;
  }
  const std::uint32_t number = stop_asked_.fetch_add(1, std::memory_order_acq_rel) + 1;
  wake_thread();
  if (!wait_for(stop_done_, number, settings_.exit_timeout_ns)) {
    // The thread hangs in the vendor's library; it and all it uses stay as they are.
    pool_.close();
    state_.store(State::kDead, std::memory_order_release);
    writer_.loss(LossCause::kUnavailable, 0, 0, "the GPU part did not end in time (DFTRACER_GPU_EXIT_TIMEOUT_MS)");
    return false;
  }
  pthread_join(thread_, nullptr);
  stops_ = number;
  state_.store(State::kIdle, std::memory_order_release);
  return true;
}

bool GpuSource::pause(std::string_view to, std::uint64_t since) {
  if (!running() || !stop()) return false;
  paused_at_ns_ =
      (since != 0 ? since : base::monotonic_ns()) + static_cast<std::uint64_t>(settings_.wall_minus_monotonic_ns);
  const int size = static_cast<int>(std::min<std::size_t>(to.size(), 64));
  std::snprintf(paused_for_, sizeof paused_for_, "left to %.*s", size, to.data());
  Status left;
  left.detail = paused_for_;
  status(left);
  return true;
}

bool GpuSource::resume() {
  if (paused_at_ns_ == 0 || state_.load(std::memory_order_acquire) != State::kIdle) return running();
  settings_.beside_holder = true;
  const bool running_again = start(settings_, *backend_);
  tell_gap();
  return running_again;
}

void GpuSource::tell_gap() {
  if (paused_at_ns_ == 0) return;
  const std::uint64_t unit = model::nanoseconds_per_unit(settings_.time_metric);
  const std::uint64_t now_ns = base::monotonic_ns() + static_cast<std::uint64_t>(settings_.wall_minus_monotonic_ns);
  record::ArgList<512> args;
  args.add_string("cause", loss_cause_name(LossCause::kUnavailable));
  args.add_uint64("first_ts", paused_at_ns_ / unit);
  args.add_uint64("last_ts", now_ns / unit);
  args.add_string("detail", paused_for_);
  record::emit_metadata(record::site_id(model::kLoss, model::kCategoryDftracer, backend_->layer()), args);
  paused_at_ns_ = 0;
}

void GpuSource::in_forked_child() {
  writer_.in_forked_child();
  if (state_.exchange(State::kDead, std::memory_order_acq_rel) == State::kIdle && !started_) {
    state_.store(State::kIdle, std::memory_order_release);  // never used CUDA: the child may
    return;
  }
  pool_.close();
  if (backend_ != nullptr) backend_->in_forked_child();
  started_ = false;
  paused_at_ns_ = 0;
}

Summary GpuSource::summary() const { return {started_, writer_.counts(), pool_.used_buffers(), pool_.buffer_bytes()}; }

void GpuSource::status(const Status& status) {
  static constexpr const char* kStates[] = {"off", "partial", "on"};
  record::ArgList<1024> args;
  args.add_string("backend", backend_->name());
  args.add_string("state", kStates[static_cast<unsigned>(status.state)]);
  if (status.code != 0) args.add_int64("code", status.code);
  const auto add = [&](std::string_view key, const char* text) {
    if (text != nullptr) args.add_string(key, std::string_view(text).substr(0, 240));
  };
  add("code_name", status.code_name);
  add("category", status.category);
  add("holder", status.holder);
  add("detail", status.detail);
  record::emit_metadata(record::site_id("gpu_status", model::kCategoryDftracer, backend_->layer()), args);
}

}  // namespace dft::gpu
