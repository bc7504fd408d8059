// SPDX-License-Identifier: MIT
#include "write/trace_writer.h"

#include <errno.h>

#include <cstring>

#include "base/log.h"
#include "base/raw_io.h"
#include "encode/gzip_member.h"
#include "encode/json_writer.h"

namespace dft::write {

namespace {
constexpr std::size_t kLineRoom = 64 * 1024;  // behind a full block: the line that filled it
constexpr std::size_t kSmallestBlock = 64 * 1024;
constexpr std::size_t kRoomForLoss = 512;  // the args of a loss record, which must be told where no memory is left
constexpr std::size_t kSpare = 512 * 1024;

bool file_is_gone(int error) { return error == -ENOENT || error == -ESTALE; }

Cause cause_of(int error) {
  switch (-error) {
    case ENOMEM: return Cause::kNoMemory;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return Cause::kDiskFull;
    case EBADF:
    case ESTALE:
    case ENOENT: return Cause::kFileLost;
    default: return Cause::kWriteError;
  }
}
}  // namespace

TraceWriter::TraceWriter(const WriterOptions& options, const model::Definitions& definitions,
                         const base::ClockMap& clock, TraceNotes& notes)
    : options_(options), notes_(notes), clock_(clock), encoder_(definitions, clock, options.encoder) {}

bool TraceWriter::reserve_memory() {
  for (;; options_.block_size /= 2) {
    const std::size_t room = options_.block_size + kLineRoom;
    const std::size_t packed = options_.compression ? encode::member_bound(room) : 0;
    const bool enough = block_.reserve(room) && packed_.reserve(packed) && scratch_.reserve(kRoomForLoss);
    if (enough && spare_.reserve(kSpare)) return true;
    for (base::Buffer* buffer : {&block_, &packed_, &scratch_, &spare_}) buffer->release();
    if (options_.block_size <= kSmallestBlock) return false;
  }
}

int TraceWriter::open(bool shared_descriptors) {
  const std::string_view suffix = options_.compression ? model::kTraceSuffixGz : model::kTraceSuffixPlain;
  return sink_.open(options_.stem, suffix, shared_descriptors);
}

void TraceWriter::set_crash_header(model::CrashHeader* header) { crash_ = header; }

void TraceWriter::ensure_prologue() {
  if (prologue_in_file_ || prologue_in_block_) return;
  prologue_in_block_ = true;
  notes_.prologue(encoder_, clock_.start_ns(), block_);
}

void TraceWriter::records(model::ChunkHeader* chunk, std::uint64_t committed) {
  for (std::uint64_t at = chunk->pending; at < committed;) {
    ensure_prologue();
    const char* const next = chunk->data() + at;
    const auto& header = *reinterpret_cast<const model::RecordHeader*>(next);
    encode::RecordRun run{0, 0};
    if ((header.flags & model::kFlagConstants) != 0) {
      run = encoder_.encode_run(next, committed - at, options_.block_size, block_);
      events_in_block_ += run.lines;
    }
    if (run.lines == 0) record(header, chunk);
    at += run.lines == 0 ? header.size : run.bytes;
    note_progress(chunk, at);
    if (block_.size() >= options_.block_size) commit();
  }
}

void TraceWriter::record(const model::RecordHeader& record, const model::ChunkHeader* chunk) {
  if (encoder_.encode(record, chunk->tid, block_)) {
    events_in_block_ += record.kind != model::RecordKind::kMetadata ? 1 : 0;
  } else {
    const std::uint64_t when = record.kind == model::RecordKind::kMetadata ? 0 : clock_.to_ns(record.end);
    losses_.add(Cause::kUndecodable, 1, record.size, when, when);
  }
}

void TraceWriter::open_region(const model::RegionSlot& slot, const char* args, base::Ticks now) {
  ensure_prologue();
  const model::ArgExtent extent = slot.extent.load(std::memory_order_relaxed);
  const std::size_t size = sizeof(model::RecordHeader) + extent.bytes;
  scratch_.clear();
  if (!scratch_.reserve(size)) {
    losses_.add(Cause::kNoMemory, 1, size, clock_.to_ns(slot.begin), clock_.to_ns(now));
    return;
  }
  auto& record = *reinterpret_cast<model::RecordHeader*>(scratch_.data());
  record = {static_cast<std::uint32_t>(size),
            model::RecordKind::kEvent,
            static_cast<std::uint8_t>(slot.flags | model::kFlagOpenAtEnd),
            extent.schema,
            slot.site,
            0,
            slot.begin,
            now};
  if (extent.bytes != 0) std::memcpy(scratch_.data() + sizeof record, args, extent.bytes);
  const bool whole = encoder_.encode(record, slot.tid, block_);
  if (!whole && extent.bytes != 0) {  // the thread died within an update of the args
    record.size = sizeof record;
    record.schema = model::kNoArgs;
    if (encoder_.encode(record, slot.tid, block_)) ++events_in_block_;
  }
  if (whole) {
    ++events_in_block_;
  } else {
    losses_.add(Cause::kUndecodable, 1, size, clock_.to_ns(slot.begin), clock_.to_ns(now));
  }
  if (block_.size() >= options_.block_size) commit();
}

void TraceWriter::loss(Cause cause, std::uint64_t count, std::uint64_t bytes, std::uint64_t first_ns,
                       std::uint64_t last_ns) {
  losses_.add(cause, count, bytes, first_ns, last_ns);
}

void TraceWriter::metadata(std::string_view name, std::string_view args_fragment) {
  ensure_prologue();
  encoder_.metadata(name, options_.encoder.pid, args_fragment, block_);
}

void TraceWriter::report_losses() {
  Cause cause;
  Loss loss;
  const std::uint64_t unit = model::nanoseconds_per_unit(options_.encoder.time_metric);
  while (losses_.take_unreported(&cause, &loss)) {
    scratch_.clear();
    encode::JsonWriter json(scratch_);
    json.key("cause").string(cause_name(cause)).key("count").number(loss.count).key("bytes").number(loss.bytes);
    if (loss.first_ns != 0) json.key("first_ts").number(loss.first_ns / unit);
    if (loss.last_ns != 0) json.key("last_ts").number(loss.last_ns / unit);
    ensure_prologue();
    encoder_.metadata(model::kLoss, options_.encoder.pid, scratch_.view(), block_);
  }
}

void TraceWriter::note_progress(model::ChunkHeader* chunk, std::uint64_t end) {
  chunk->pending = end;
  if (crash_ == nullptr) {
    chunk->drained = end;
  } else if (chunk->pending_block != block_number_) {
    chunk->pending_block = block_number_;
    touched_.append(reinterpret_cast<const char*>(&chunk), sizeof(void*));
  }
}

bool TraceWriter::must_hold(const model::ChunkHeader* chunk) const {
  return crash_ != nullptr && chunk->pending_block == block_number_;
}

void TraceWriter::progress_is_safe() {
  ++block_number_;
  if (crash_ == nullptr) return;
  crash_->next_id.store(encoder_.next_id(), std::memory_order_release);
  for (std::size_t at = 0; at < touched_.size(); at += sizeof(void*)) {
    model::ChunkHeader* chunk;
    std::memcpy(&chunk, touched_.data() + at, sizeof(void*));
    chunk->drained = chunk->pending;
  }
  touched_.clear();
}

void TraceWriter::begin() {
  ensure_prologue();
  commit();
}

bool TraceWriter::commit() {
  if (!sink_.is_open()) return false;
  report_losses();
  if (block_.empty()) return true;
  packed_.clear();
  std::string_view bytes = block_.view();
  bool packed = true;
  if (options_.compression) {
    packed = compressor_.compress(block_.view(), static_cast<std::uint32_t>(encoder_.stats().lines), packed_);
    bytes = packed_.view();
  }
  const int result = packed ? write_block(bytes, block_.size()) : -ENOMEM;
  losses_.settle_reports(result == 0);
  if (result == 0) {
    events_in_file_ += events_in_block_;
  } else {
    failed_block(result);
  }
  // Lost or not, the application's memory must not grow: the chunks are done with.
  progress_is_safe();
  prologue_in_block_ = false;
  events_in_block_ = 0;
  block_.clear();
  encoder_.stats().reset();
  return result == 0;
}

int TraceWriter::write_block(std::string_view bytes, std::uint64_t raw_size) {
  const std::uint64_t offset = sink_.size();
  if (crash_ != nullptr) {
    crash_->block_begin.store(offset, std::memory_order_relaxed);
    crash_->block_end.store(offset + bytes.size(), std::memory_order_relaxed);
    crash_->pending_next_id.store(encoder_.next_id(), std::memory_order_relaxed);
    crash_->pending_block.store(block_number_, std::memory_order_release);
  }
  const int result = sink_.append(bytes);
  if (result < 0) return result;
  index_.add(offset, bytes.size(), raw_size, encoder_.stats());
  prologue_in_file_ = prologue_in_file_ || prologue_in_block_;
  return 0;
}

void TraceWriter::failed_block(int error) {
  const encode::BlockStats& stats = encoder_.stats();
  const std::uint64_t unit = model::nanoseconds_per_unit(options_.encoder.time_metric);
  const bool timed = stats.events != 0;
  losses_.add(cause_of(error), events_in_block_, block_.size(), timed ? stats.ts_min * unit : 0,
              timed ? stats.ts_max * unit : 0);
  if (file_is_gone(error)) {
    losses_.add(Cause::kFileLost, events_in_file_, sink_.size(), 0, 0);
    events_in_file_ = 0;
    file_gone_ = true;
  }
  encoder_.forget_defined_strings();
  if (said_cannot_write_) return;  // once a file; the total is said at its end
  said_cannot_write_ = true;
  base::LogLine() << "cannot write " << sink_.path() << ": "
                  << (file_is_gone(error) ? "the file was removed or replaced" : base::error_text(-error)) << ": "
                  << losses_.total() << " events lost so far";
}

bool TraceWriter::write_end() {
  ensure_prologue();
  report_losses();
  const std::uint64_t id = encoder_.next_id();
  notes_.epilogue(encoder_, sink_, losses_, clock_.to_ns(base::clock_now()), block_);
  const bool made = encoder_.next_id() != id;  // else memory was refused
  const bool committed = commit();
  if (made && !committed) encoder_.take_back_id(id);
  return made && committed;
}

bool TraceWriter::close() {
  spare_.release();
  if (sink_.reopened() != reopened_told_) {
    reopened_told_ = sink_.reopened();
    metadata("descriptor", "\"detail\":\"the application closed the trace's descriptor; the file was opened again\"");
  }
  // Where the last events do not fit, their loss and `end` may.
  const bool ended = write_end() || write_end();
  if (sink_.is_open() && sink_.size() != 0 && !file_gone_) index_.write(sink_);
  sink_.close();
  return ended;
}

}  // namespace dft::write
