// SPDX-License-Identifier: MIT
// What the drain does in one pass, and at the end.
#include <errno.h>

#include <cstring>

#include "base/log.h"
#include "base/raw_io.h"
#include "encode/json_writer.h"
#include "record/regions.h"
#include "write/drain.h"
#include "write/drain_work.h"

namespace dft::write {

namespace raw = base::raw;
using model::ChunkHeader;
using record::recorder;
using record::Stream;
using record::ThreadPhase;
using record::ThreadState;

namespace {
constexpr std::uint64_t kLivenessIntervalNs = 1'000'000'000;
constexpr std::int64_t kWallStepNs = 1'000'000;   // a step of the wall clock worth telling
constexpr std::int64_t kWrongTscNs = 10'000'000;  // the TSC drifted this far from the monotonic clock: mistrust it
constexpr Cause kCauseOf[record::kLossCauses] = {Cause::kBufferFull, Cause::kSignalNesting, Cause::kNoMemory};

Stream& stream_of(const ChunkHeader* chunk) { return static_cast<ThreadState*>(chunk->owner)->streams[chunk->stream]; }

std::string_view advice_on(int error) {
  switch (error) {
    case EMFILE: return "raise the limit of open files (ulimit -n)";
    case ENFILE: return "all processes together have opened as many files as the system allows";
    case ENOSPC:
    case EDQUOT: return "set DFTRACER_LOG_FILE to a prefix on a file system with free space";
    case ENAMETOOLONG: return "set DFTRACER_LOG_FILE to a shorter prefix";
    default: return "set DFTRACER_LOG_FILE to a prefix in a writable directory";
  }
}
}  // namespace

int Drain::open_files() {
  Work& work = *work_;
  const int result = work.writer.open(work.shared_descriptors);
  if (result != 0) {
    base::LogLine() << "cannot create the trace " << work.writer.file().path() << ": " << base::error_text(-result)
                    << ": " << advice_on(-result);
    return result;
  }
  std::memcpy(path_, work.writer.file().path(), sizeof path_);
  if (!work.options.crash_safe) return 0;
  const int error = work.crash.open(work.writer.file(), work.options.writer);
  if (error != 0) {
    base::LogLine() << "cannot create the crash-safe file beside " << path_ << ": " << base::error_text(-error)
                    << ": a killed process loses up to one flush interval";
    return 0;
  }
  work.crash.store_clock(work.clock, base::clock_now());
  recorder.pool.use_crash_file(work.crash.fd(), work.crash.header(), work.shared_descriptors);
  recorder.pool.on_slot_wanted = [] { recorder.wake_drain(); };
  recorder.pool.top_up();
  recorder.definitions.mirror_into(&recorder.pool);
  work.writer.set_crash_header(work.crash.header());
  return 0;
}

void Drain::pass(Pass what) {
  Work& work = *work_;
  const base::ClockPair now = base::clock_pair();
  const std::int64_t off = work.clock.advance(now);
  if (off > kWrongTscNs || off < -kWrongTscNs) base::clock_distrust_tsc(now, work.clock.ticks_per_ns());
  if (work.crash.is_open()) {
    work.crash.store_clock(work.clock, now.ticks);
    serve_crash_file();
  }
  if (recorder.many_dying()) end_dead_threads(true);
  drain_full_chunks();
  if (what != Pass::kFullChunks) {
    drain_current_chunks();
    collect_losses();
    check_clock();
    check_liveness();
    recorder.pool.trim();
  }
  if (what == Pass::kEverything || work.held != nullptr) work.writer.commit();
  release_held();
}

void Drain::serve_crash_file() {
  recorder.pool.top_up();
  if (work_->said_unprotected || recorder.pool.unprotected_chunks() == 0) return;
  work_->said_unprotected = true;
  base::LogLine() << "the crash-safe file beside " << path_
                  << " cannot grow: what it does not hold is lost if the process is killed: make room beside the trace";
}

void Drain::drain_chunk(ChunkHeader* chunk, bool whole) {
  Work& work = *work_;
  work.writer.records(chunk, chunk->committed.load(std::memory_order_acquire));
  if (whole) {
    Stream& stream = stream_of(chunk);
    stream.drained_seq = chunk->seq + 1;
    if (work.writer.must_hold(chunk)) {
      chunk->next = work.held;
      work.held = chunk;
    } else {
      done_with(chunk);
    }
  }
}

void Drain::done_with(ChunkHeader* chunk) {
  auto* state = static_cast<ThreadState*>(chunk->owner);
  state->streams[chunk->stream].outstanding.fetch_sub(1, std::memory_order_release);
  recorder.pool.give_back(chunk);
  retire_if_done(state);
}

void Drain::retire_if_done(ThreadState* state) {
  if (state->phase.load(std::memory_order_acquire) == ThreadPhase::kExited && recorder.finished_with(*state)) {
    recorder.retire(state);
  }
}

void Drain::release_held() {
  ChunkHeader* chunk = work_->held;
  ChunkHeader* keep = nullptr;
  while (chunk != nullptr) {
    ChunkHeader* next = chunk->next;
    if (work_->writer.must_hold(chunk)) {
      chunk->next = keep;
      keep = chunk;
    } else {
      done_with(chunk);
    }
    chunk = next;
  }
  work_->held = keep;
}

void Drain::drain_full_chunks() {
  ChunkHeader* chunk = recorder.take_full();
  while (chunk != nullptr) {
    ChunkHeader* next = chunk->next;
    recorder.pool.prepare();
    drain_chunk(chunk, true);
    if (work_->crash.is_open()) {
      serve_crash_file();  // threads may be waiting for a slot while this pass is long
      if (work_->held != nullptr) release_held();
    }
    chunk = next;
  }
}

void Drain::drain_current_chunks() {
  for (ThreadState* state = recorder.threads(); state != nullptr; state = state->next) {
    for (Stream& stream : state->streams) {
      ChunkHeader* chunk = stream.current.load(std::memory_order_acquire);
      // Records of an older chunk of this stream may still wait on the list of full ones; the order within a thread
      // counts.
      if (chunk != nullptr && chunk->seq == stream.drained_seq) drain_chunk(chunk, false);
    }
    retire_if_done(state);  // one that had nothing to drain
  }
}

void Drain::collect_losses() {
  for (ThreadState* state = recorder.threads(); state != nullptr; state = state->next) {
    for (int i = 0; i < record::kLossCauses; ++i) collect_loss(state->losses[i], state->reported_losses[i], i);
  }
  collect_loss(recorder.unattached, recorder.reported_unattached, static_cast<int>(record::LossCause::kNoMemory));
}

void Drain::collect_loss(record::LossCounter& counter, std::uint64_t& reported, int cause) {
  const std::uint64_t count = counter.count.load(std::memory_order_acquire);
  const std::uint64_t fresh = count - reported;
  if (fresh == 0) return;
  reported = count;
  work_->writer.loss(kCauseOf[cause], fresh, counter.bytes.exchange(0, std::memory_order_relaxed),
                     work_->clock.to_ns(counter.first.load(std::memory_order_relaxed)),
                     work_->clock.to_ns(counter.last.load(std::memory_order_relaxed)));
}

void Drain::check_liveness() {
  const std::uint64_t now = base::monotonic_ns();
  if (now < work_->next_liveness_check) return;
  work_->next_liveness_check = now + kLivenessIntervalNs;
  end_dead_threads(false);
}

// A thread that ended without telling (no pthread destructor ran) would hold its chunks for ever.
void Drain::end_dead_threads(bool only_dying) {
  for (ThreadState* state = recorder.threads(); state != nullptr; state = state->next) {
    if (state->phase.load(std::memory_order_acquire) != ThreadPhase::kLive || (only_dying && !state->dying)) continue;
    if (raw::kill_thread(recorder.pid(), state->tid, 0) == -ESRCH) recorder.leave_thread(state);
  }
}

void Drain::check_clock() {
  const std::int64_t offset = base::realtime_minus_monotonic_ns();
  Work& work = *work_;
  if (!work.wall_offset_known) {
    work.wall_offset_known = true;
    work.wall_offset_ns = work.clock.wall_minus_monotonic_ns();
  }
  const std::int64_t step = offset - work.wall_offset_ns;
  if (step < kWallStepNs && step > -kWallStepNs) return;
  work.wall_offset_ns = offset;
  base::Buffer args;
  encode::JsonWriter json(args);
  json.key("source").string("wall_step");
  json.key("a_ns").number(work.clock.to_ns(base::clock_now()));
  json.key("b_ns").number(static_cast<std::uint64_t>(static_cast<std::int64_t>(base::monotonic_ns()) + offset));
  json.key("bracket_ns").number(0);
  work.writer.metadata(model::kClockSample, args.view());
}

namespace {
class OpenRegionWriter final : public record::OpenRegionVisitor {
 public:
  explicit OpenRegionWriter(TraceWriter& writer) : writer_(writer), now_(base::clock_now()) {}
  void visit(const model::RegionSlot& slot, const char* args) override { writer_.open_region(slot, args, now_); }

 private:
  TraceWriter& writer_;
  base::Ticks now_;
};
}  // namespace

void Drain::end_of_trace() {
  Work& work = *work_;
  recorder.quiesce(quiesce_ns_.load(std::memory_order_relaxed));
  pass(Pass::kLast);
  pass(Pass::kLast);  // chunks that the first pass found behind others on the list of full ones
  OpenRegionWriter open_regions(work.writer);
  record::visit_open_regions(open_regions);
  const bool ended = work.writer.close();
  release_held();
  lost_ = work.writer.lost_events();
  if (!ended) {
    base::LogLine() << lost_ << " events are missing from " << path_
                    << ", and its `end`: nothing more could be written";
  } else if (lost_ != 0) {
    base::LogLine() << lost_ << " events are missing from " << path_ << ": see its `loss` records and `end`";
  }
  recorder.definitions.mirror_into(nullptr);
  recorder.forget_threads();
  if (work.crash.is_open()) {
    recorder.pool.leave_crash_file();
    work.crash.close_and_remove();
  }
  free_work();
  phase_.store(Phase::kFinished, std::memory_order_release);
  finish_done_.store(1, std::memory_order_release);
  raw::futex_wake(&finish_done_, 1 << 30);
}

}  // namespace dft::write
