// SPDX-License-Identifier: MIT
#include "tools/recovery.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <set>
#include <tuple>

#include "base/hash.h"
#include "encode/event_encoder.h"
#include "encode/json_writer.h"
#include "read/inputs.h"
#include "tools/crash_image.h"
#include "tools/output.h"
#include "tools/trace_output.h"
#include "tools/trace_verdict.h"

namespace dft::tools {
namespace {

using RegionKey = std::tuple<std::int32_t, model::SiteId, std::uint64_t>;  // tid, site, begin

// One recovery: decides what of the trace stays, and appends the rest.
class CrashRecovery {
 public:
  CrashRecovery(const CrashImage& image, std::string trace) : image_(image), trace_(std::move(trace)) {
    const auto& header = image.header();
    trace_size_ = size_of(trace_);
    pending_block_ = header.pending_block.load();
    pending_is_safe_ = trace_size_ >= header.block_end.load();
    kept_ = pending_is_safe_ ? trace_size_ : std::min<std::uint64_t>(trace_size_, header.block_begin.load());
    clock_ = std::make_unique<base::ClockMap>();
    const auto knots = std::min<std::uint64_t>(header.knot_count.load(), base::ClockMap::kMaxKnots);
    clock_->restore(header.knots, static_cast<std::size_t>(knots));
    encode::EncoderOptions options;
    options.pid = header.pid;
    std::memcpy(options.host_hash, header.host_hash, sizeof options.host_hash);
    options.metadata = header.metadata != 0;
    options.include_tids = header.include_tids != 0;
    options.time_metric = header.time_metric;
    options.first_id =
        pending_is_safe_ ? std::max(header.pending_next_id.load(), header.next_id.load()) : header.next_id.load();
    if (options.first_id == 0) options.first_id = 1;
    encoder_ = std::make_unique<encode::EventEncoder>(image, *clock_, options);
  }

  bool write(TraceOutput& out) {
    if (kept_ != 0 && !out.copy(trace_, kept_)) return false;
    if (kept_ == 0) begin_file();
    for (const auto* chunk : image_.events()) {
      if (!append_chunk(*chunk, out)) return false;
    }
    append_regions();
    append_note();
    return flush(out) && out.finish();
  }

  std::uint64_t events() const { return events_; }
  std::uint64_t regions() const { return regions_; }
  std::uint64_t undecodable() const { return undecodable_; }
  std::uint64_t cut() const { return trace_size_ - kept_; }

 private:
  // The process died before its first block: its host's name and its unit stand nowhere yet.
  void begin_file() {
    const auto& header = image_.header();
    char host[256] = {};
    const bool same_host =
        ::gethostname(host, sizeof host - 1) == 0 &&
        base::string_hash(host).view() == std::string_view(header.host_hash, sizeof header.host_hash);
    if (same_host) encoder_->define_string(model::StringKind::kHost, host, header.pid, lines_);
    base::Buffer args;
    encode::JsonWriter json(args);
    json.key("name").string("time_metric").key("value").string(model::time_metric_name(header.time_metric));
    encoder_->metadata(model::kKeyValue, header.pid, args.view(), lines_);
  }

  std::uint64_t already_written(const model::ChunkHeader& chunk) const {
    const bool safe =
        chunk.pending_block < pending_block_ || (chunk.pending_block == pending_block_ && pending_is_safe_);
    return chunk.pending > chunk.drained && safe ? chunk.pending : chunk.drained;
  }

  bool append_chunk(const model::ChunkHeader& chunk, TraceOutput& out) {
    const std::uint64_t committed = chunk.committed.load(std::memory_order_acquire);
    const std::uint64_t from = already_written(chunk);
    for (std::uint64_t at = 0; at + sizeof(model::RecordHeader) <= committed;) {
      const auto& record = *reinterpret_cast<const model::RecordHeader*>(chunk.data() + at);
      if (record.size < sizeof record || record.size % 8 != 0 || record.size > committed - at) {
        ++undecodable_;
        break;
      }
      closed_.emplace(chunk.tid, record.site, record.begin);
      if (at >= from) {
        ++(encoder_->encode(record, chunk.tid, lines_) ? events_ : undecodable_);
        if (lines_.size() > kPiece && !flush(out)) return false;
      }
      at += record.size;
    }
    return true;
  }

  void append_regions() {
    const std::uint64_t now = std::max(image_.header().now_ticks.load(), last_begin());
    for (const auto* slot : image_.regions()) {
      // A slot between the commit of its record and its release stands in both.
      if (closed_.count({slot->tid, slot->site, slot->begin}) != 0) continue;
      const std::string_view args = image_.region_args(*slot);
      if (append_region(*slot, args, now)) {
        ++regions_;
      } else {
        // Killed within an update of its args: the region itself is known.
        ++undecodable_;
        regions_ += !args.empty() && append_region(*slot, {}, now) ? 1 : 0;
      }
    }
  }

  bool append_region(const model::RegionSlot& slot, std::string_view args, std::uint64_t now) {
    base::Buffer record;
    const std::size_t size = sizeof(model::RecordHeader) + args.size();
    if (!record.reserve(size)) return false;
    model::RecordHeader header{};
    header.size = static_cast<std::uint32_t>(size);
    header.kind = model::RecordKind::kEvent;
    header.flags = static_cast<std::uint8_t>(slot.flags | model::kFlagOpenAtEnd);
    header.schema = args.empty() ? model::kNoArgs : slot.extent.load(std::memory_order_relaxed).schema;
    header.site = slot.site;
    header.begin = slot.begin;
    header.end = now;
    record.append(reinterpret_cast<const char*>(&header), sizeof header);
    record.append(args);
    return encoder_->encode(*reinterpret_cast<const model::RecordHeader*>(record.data()), slot.tid, lines_);
  }

  // Regions are closed at the last moment known: that of the drain's last pass, or of the newest region.
  std::uint64_t last_begin() const {
    std::uint64_t last = 0;
    for (const auto* slot : image_.regions()) last = std::max(last, slot->begin);
    for (const auto& [tid, site, begin] : closed_) last = std::max(last, begin);
    return last;
  }

  void append_note() {
    base::Buffer args;
    encode::JsonWriter json(args);
    json.key("events").number(events_).key("open_regions").number(regions_).key("undecodable").number(undecodable_);
    json.key("cut_bytes").number(cut()).key("broken_chunks").number(image_.broken_chunks());
    encoder_->metadata("recovered", image_.header().pid, args.view(), lines_);
  }

  bool flush(TraceOutput& out) {
    const bool good = lines_.empty() || out.lines(lines_.view());
    lines_.clear();
    return good;
  }

  static constexpr std::size_t kPiece = 256 * 1024;
  const CrashImage& image_;
  std::string trace_;
  std::uint64_t trace_size_ = 0;
  std::uint64_t kept_ = 0;
  std::uint64_t pending_block_ = 0;
  bool pending_is_safe_ = false;
  std::unique_ptr<base::ClockMap> clock_;
  std::unique_ptr<encode::EventEncoder> encoder_;
  base::Buffer lines_;
  std::set<RegionKey> closed_;
  std::uint64_t events_ = 0;
  std::uint64_t regions_ = 0;
  std::uint64_t undecodable_ = 0;
};

}  // namespace

RecoverResult recover_crash(const std::string& crash_file, const RecoverOptions& options) {
  RecoverResult result;
  std::string reason;
  const auto image = CrashImage::open(crash_file, reason);
  if (!image) {
    result.text = crash_file + ": " + reason;
    return result;
  }
  if (image->process_lives() && !options.force) {
    result.text = crash_file + ": process " + std::to_string(image->header().pid) +
                  " still uses it; wait for its end, or use --force";
    return result;
  }
  const bool compressed = image->header().compression != 0;
  const std::string_view suffix = compressed ? model::kTraceSuffixGz : model::kTraceSuffixPlain;
  const std::string trace = read::trace_base(crash_file) + std::string(suffix);
  // Its records are in the trace then (`--keep`): once more would count them twice.
  if (size_of(trace) != 0 && judge_trace(trace).recovered) {
    result.good = true;
    result.trace = trace;
    result.text = crash_file + ": " + trace + " was completed from it already; it can be removed";
    return result;
  }
  result.trace = options.output.empty() ? trace : options.output;
  TraceOutput out(result.trace, compressed ? TraceOutput::Form::kSizedGzip : TraceOutput::Form::kPlain);
  CrashRecovery recovery(*image, trace);
  if (!recovery.write(out)) {
    result.text = crash_file + ": " + out.error() + "; nothing was changed";
    return result;
  }
  result.good = true;
  result.events = recovery.events();
  result.regions = recovery.regions();
  if (options.output.empty() && !options.keep && ::unlink(crash_file.c_str()) != 0) {
    result.text = crash_file + " could not be removed; ";
  }
  result.text += "recovered " + result.trace + ": " + counted(result.events, "event") + " that had not been written, " +
                 counted(result.regions, "open region");
  if (recovery.undecodable() != 0) result.text += ", " + counted(recovery.undecodable(), "record") + " not decodable";
  check_result(result);
  return result;
}

std::uint64_t size_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

void check_result(RecoverResult& result) {
  const FileVerdict verdict = judge_trace(result.trace);
  if (verdict.errors == 0) return;
  result.good = false;
  result.text += "; it is not valid: " + first_error(verdict) + "; `dftracer validate` names all that is wrong";
}

}  // namespace dft::tools
