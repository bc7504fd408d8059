// SPDX-License-Identifier: MIT
#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "read/inputs.h"
#include "read/scanner.h"
#include "tools/args_reader.h"
#include "tools/output.h"
#include "tools/progress.h"
#include "tools/recovery.h"
#include "tools/time_text.h"
#include "tools/trace_output.h"
#include "tools/trace_verdict.h"

namespace dft::tools {
namespace {

using read::ProblemKind;

constexpr std::string_view kUnit = "time_metric";

// What a first pass finds out, so that the second can write it into the new file.
class Examination : public read::Consumer {
 public:
  bool block(const read::Block& block) override {
    maker_.block(block);
    for (const auto& problem : block.problems) note(problem);
    for (const auto& event : block.events) {
      if (host_hash.empty()) host_hash = event.hhash;
      if (records++ == 0) pid = event.pid;
      see_unit(event);
    }
    if (!block.events.empty()) tail_is_lost_ = false;
    for (const auto& problem : block.problems) tail_is_lost_ |= problem.in_file;
    return true;
  }
  void file_done(const read::FileReport& report) override {
    verdict = maker_.finish(report);
    // Others end their files without a newline, and write lines that are no JSON: that is how they are.
    const bool cut_line = no_newline_ && last_broken_line_ == report.lines;
    if (damage.empty() && (verdict.ours || cut_line)) damage = line_damage_;
    if (damage.empty() && verdict.unexplained != 0) damage = "records are missing";
  }
  bool tail_is_lost() const { return tail_is_lost_; }

  FileVerdict verdict;
  std::string host_hash;
  std::int64_t pid = 0;
  std::uint64_t records = 0;
  std::string damage;  // empty: nothing that a recovery could help
  std::string unreadable;
  bool unit_is_there = false;  // the record of the unit of times
  std::string unit;            // as `start` or `end` tells it

 private:
  void see_unit(const read::Event& event) {
    if (event.cat != model::kCategoryDftracer) return;
    unit_is_there |= event.name == model::kKeyValue && event.arg_name == kUnit;
    if (event.phase != model::Phase::kComplete) return;
    if (const auto configuration = find_arg(event.args, "cfg")) unit = find_arg(*configuration, kUnit).value_or(unit);
  }
  void note(const read::Problem& problem) {
    if (problem.kind == ProblemKind::kCannotRead) unreadable = problem.reason;
    no_newline_ |= problem.kind == ProblemKind::kNoNewline;
    if (problem.line != 0) last_broken_line_ = problem.line;
    const bool of_line = !problem.in_file || problem.kind == ProblemKind::kNoNewline;
    std::string& first = of_line ? line_damage_ : damage;
    if (!first.empty()) return;
    first = problem.reason + " at " +
            (problem.in_file ? "byte " + std::to_string(problem.byte) : "line " + std::to_string(problem.line));
  }

  VerdictMaker maker_{false, 1'000};
  std::string line_damage_;
  std::uint64_t last_broken_line_ = 0;
  bool no_newline_ = false;
  bool tail_is_lost_ = false;
};

// Deflate data that were changed go on as text for a while, as lines that are whole but mixed from others. Our ids tell
// them: each block counts on, one by one.
class Sieve {
 public:
  explicit Sieve(bool ours) : ours_(ours) {}
  void begin_block(const read::Block& block) {
    damaged_ = std::any_of(block.problems.begin(), block.problems.end(), [](const auto& problem) {
      return problem.kind == ProblemKind::kBadMember || problem.kind == ProblemKind::kBadChecksum;
    });
    first_ = true;
    refused_ = false;
  }
  bool passes(const read::Event& event) {
    if (!ours_) return true;
    if (event.has_id && event.phase == model::Phase::kComplete) {
      const bool follows = event.id > last_id_ && (first_ || event.id == last_id_ + 1);
      if (damaged_ && !follows) refused_ = true;
      if (refused_ || event.id <= last_id_) return false;
      last_id_ = event.id;
      first_ = false;
    }
    return !refused_;
  }

 private:
  bool ours_;
  std::uint64_t last_id_ = 0;
  bool damaged_ = false;
  bool first_ = true;
  bool refused_ = false;  // and so is the rest of the block
};

// Copies every record that can be read, and puts before the last `end` what is known of the others.
class RecordCopy : public read::Consumer {
 public:
  RecordCopy(const Examination& found, TraceOutput& out)
      : found_(found), out_(out), sieve_(found.verdict.ours), checker_(found.verdict.ours) {}

  bool block(const read::Block& block) override {
    for (const auto& problem : block.problems) broken_ += !problem.in_file && !is_kept(problem.kind) ? 1 : 0;
    text_.clear();
    sieve_.begin_block(block);
    for (const auto& event : block.events) {
      if (!sieve_.passes(event)) {
        ++broken_;
        continue;
      }
      ++lines;
      checker_.check(block, event, ignored_);
      ignored_.clear();
      text_ += end_;
      end_.clear();
      const bool is_end = found_.verdict.ours && event.phase == model::Phase::kComplete &&
                          event.cat == model::kCategoryDftracer && event.name == "end";
      (is_end ? end_ : text_).append(event.raw).push_back('\n');
    }
    return text_.empty() || out_.lines(text_);
  }

  // The unit must stand before the first time.
  bool begin() {
    base::Buffer notes;
    if (found_.verdict.ours && !found_.unit_is_there && !found_.unit.empty()) {
      note(notes, model::kKeyValue,
           [&](encode::JsonWriter& args) { args.key("name").string(kUnit).key("value").string(found_.unit); });
    }
    return notes.empty() || out_.lines(notes.view());
  }

  bool finish() {
    base::Buffer notes;
    if (missing() != 0) {
      note(notes, model::kLoss, [&](encode::JsonWriter& args) {
        args.key("cause").string(kCauseDamaged).key("count").number(missing()).key("detail").string(found_.damage);
      });
    }
    if (more_is_unknown()) {
      note(notes, model::kLoss, [&](encode::JsonWriter& args) {
        args.key("cause").string(kCauseDamaged).key("detail").string(found_.damage);
      });
    }
    note(notes, "recovered", [&](encode::JsonWriter& args) {
      args.key("lines").number(lines).key("broken_lines").number(broken_).key("missing").number(missing());
      args.key("damage").string(found_.damage);
    });
    notes.append(end_);
    return !notes.failed() && out_.lines(notes.view()) && out_.finish();
  }

  std::uint64_t missing() const { return checker_.unexplained(); }
  bool more_is_unknown() const { return !found_.verdict.ours || (found_.tail_is_lost() && !checker_.ended()); }
  std::uint64_t lines = 0;

 private:
  bool is_kept(ProblemKind kind) const {
    return kind == ProblemKind::kDuplicateKey || (kind == ProblemKind::kBadUtf8 && !found_.verdict.ours);
  }

  template <class Args>
  void note(base::Buffer& to, std::string_view name, const Args& put_args) {
    encode::JsonWriter json(to);
    json.begin_object().key("name").string(name).key("cat").string(model::kCategoryDftracer);
    json.key("type").number(static_cast<int>(model::Layer::kDftracer));
    json.key("pid").number(found_.pid).key("tid").number(found_.pid);
    json.key("ph").number(static_cast<int>(model::Phase::kMetadata));
    json.key("args").begin_object().key("hhash").string(found_.host_hash);
    put_args(json);
    json.end_object().end_object();
    to.push('\n');
  }

  const Examination& found_;
  TraceOutput& out_;
  Sieve sieve_;
  FileChecker checker_;
  std::vector<Finding> ignored_;
  std::string text_;
  std::string end_;  // held back: nothing follows it in a trace of ours
  std::uint64_t broken_ = 0;
};

// Made from the trace as it is now.
bool is_made_already(const std::string& trace, const std::string& recovered) {
  struct stat of_trace {};
  struct stat of_recovered {};
  if (::stat(trace.c_str(), &of_trace) != 0 || ::stat(recovered.c_str(), &of_recovered) != 0) return false;
  const auto& older = of_trace.st_mtim;
  const auto& newer = of_recovered.st_mtim;
  return newer.tv_sec != older.tv_sec ? newer.tv_sec > older.tv_sec : newer.tv_nsec >= older.tv_nsec;
}

RecoverResult nothing_to_do(const std::string& trace, const Examination& found) {
  RecoverResult result;
  result.good = found.verdict.errors == 0;
  result.text = trace + ": nothing to recover, the file is whole";
  if (!result.good) {
    result.text += ", but not valid: " + first_error(found.verdict) + "; `dftracer validate` names all that is wrong";
  }
  return result;
}

}  // namespace

std::string first_error(const FileVerdict& verdict) {
  for (const auto& finding : verdict.findings) {
    if (!finding.warning)
      return (finding.line != 0 ? "line " + std::to_string(finding.line) + ": " : "") + finding.reason;
  }
  return "its findings are many";
}

RecoverResult recover_lines(const std::string& trace, const RecoverOptions& options) {
  RecoverResult result;
  const std::string target = options.output.empty() ? read::recovered_name(trace) : options.output;
  if (options.output.empty() && !options.force && is_made_already(trace, target)) {
    result.good = true;
    result.trace = target;
    result.text = trace + ": recovered already, " + target + " is there; --force makes it again";
    return result;
  }
  Examination found;
  read::ScanOptions scan;
  scan.parse = strict_parse();
  scan_with_bar("reading", {trace}, scan, found);
  if (!found.unreadable.empty() || found.records == 0) {
    const std::string why = found.unreadable.empty() ? first_error(found.verdict) : found.unreadable;
    result.text = trace + ": " + (found.unreadable.empty() ? "no record in it can be read: " : "") + why;
    return result;
  }
  if (found.damage.empty()) return nothing_to_do(trace, found);
  const bool ours = found.verdict.ours;
  TraceOutput out(target, ours ? TraceOutput::Form::kSizedGzip : TraceOutput::Form::kGzip);
  RecordCopy copy(found, out);
  scan.parse.strict = ours;
  scan.parse.collect_refs = false;
  if (!copy.begin() || !scan_with_bar("recovering", {trace}, scan, copy) || !copy.finish()) {
    result.text = trace + ": " + out.error();
    return result;
  }
  result.good = true;
  result.trace = target;
  result.events = copy.lines;
  result.missing = copy.missing();
  result.text = "recovered " + target + ": " + counted(copy.lines, "line") + " of " + trace + " (" + found.damage +
                " of " + std::to_string(size_of(trace)) + " bytes)";
  if (result.missing != 0) result.text += "; " + counted(result.missing, "event") + " missing";
  if (ours && !found.unit_is_there && found.unit.empty()) result.text += "; the unit of its times too, taken as US";
  if (copy.more_is_unknown()) result.text += "; how much more is missing, nobody can know";
  check_result(result);
  return result;
}

}  // namespace dft::tools
