// SPDX-License-Identifier: MIT
#include "tools/file_checker.h"

#include "tools/args_reader.h"
#include "tools/losses.h"
#include "tools/output.h"

namespace dft::tools {
namespace {
constexpr std::int64_t kFirstLane = std::int64_t{1} << 30;  // GPU lanes; work on them may overlap
}

void FileChecker::add(const read::Block& block, const read::Event& event, const char* kind, std::string reason,
                      std::vector<Finding>& out, bool warning) {
  out.push_back({block.line_of(event), block.byte_of(event), false, warning, false, kind, std::move(reason)});
}

void FileChecker::block(const read::Block& block, bool sized_members, std::vector<Finding>& out) {
  ours_ |= sized_members;
  std::size_t ref = 0;
  for (const read::Event& event : block.events) {
    check(block, event, out);
    for (; ref < block.refs.size() && block.refs[ref].line <= event.line; ++ref) check_ref(block, block.refs[ref]);
  }
}

void FileChecker::check(const read::Block& block, const read::Event& event, std::vector<Finding>& out) {
  using model::Phase;
  any_ = true;
  if (ended_ && ours_) add(block, event, "after_end", "record after `end`", out);
  if (event.phase == Phase::kMetadata) {
    check_metadata(block, event, out);
  } else {
    timed_ = true;
    ++events_;
  }
  if (ours_ && event.args.size() > 2 && !event.hhash_first)
    add(block, event, "hhash", "args do not begin with hhash", out);
  if (event.phase != Phase::kComplete) return;
  ++complete_;
  check_id(block, event, out);
  if (event.cat == model::kCategoryDftracer) check_life_cycle(block, event, out);
  if (ours_ && event.tid < kFirstLane) check_nesting(block, event);
}

void FileChecker::check_metadata(const read::Block& block, const read::Event& event, std::vector<Finding>& out) {
  if (event.name.size() == 2 && event.name[1] == 'H' && !event.arg_value.empty()) {
    key_.assign(1, event.name[0]).append(event.arg_value);
    defined_.insert(key_);
  } else if (event.name == "recovered") {
    recovered_ = true;
  } else if (event.name == model::kLoss) {
    missing_.see_loss(event.args);
    if (find_arg(event.args, "cause").value_or("") == kLeftOutByChoice) return;
    add(block, event, "loss", "loss record: " + std::string(event.args), out, true);
  }
}

// Regions that cross are legal in C (start a, start b, end a, end b), so they are counted and told once.
void FileChecker::check_nesting(const read::Block& block, const read::Event& event) {
  const auto thread = static_cast<std::uint64_t>(event.pid) << 32 ^ static_cast<std::uint64_t>(event.tid);
  if (last_nesting_ == nullptr || thread != last_thread_) {
    last_nesting_ = &threads_[thread];
    last_thread_ = thread;
  }
  if (!last_nesting_->add(event.ts, event.end()).overlaps || ++overlaps_ != 1) return;
  first_overlap_.line = block.line_of(event);
  first_overlap_.byte = block.byte_of(event);
  first_overlap_.reason =
      "overlaps an earlier region of thread " + std::to_string(event.tid) + " without being inside or around it";
}

void FileChecker::check_id(const read::Block& block, const read::Event& event, std::vector<Finding>& out) {
  if (!event.has_id) return;
  // Other writers number events before they queue for the file, so there only a repetition is certain to be wrong.
  const bool wrong = has_id_ && (ours_ ? event.id <= last_id_ : event.id == last_id_);
  if (wrong) {
    add(block, event, "id", "id " + std::to_string(event.id) + " after id " + std::to_string(last_id_), out);
  }
  last_id_ = event.id;
  has_id_ = true;
}

void FileChecker::check_life_cycle(const read::Block& block, const read::Event& event, std::vector<Finding>& out) {
  if (event.name == "start") {
    ours_ |= find_arg(event.args, "build").has_value();
    if (complete_ == 1 && event.has_id && event.id != 0) missing_.see_first_start(event.id);
    started_ = true;
    ended_ = false;
  } else if (event.name == "end") {
    ended_ = true;
    if (!ours_) return;
    missing_.see_end(event.args);
    const auto told = find_number(event.args, "num_events");
    if (!told) return;
    told_ = *told;
    before_end_ = complete_ - 1;
    if (auto finding = missing_.judge(*told, complete_ - 1, "`end` tells")) {
      finding->line = block.line_of(event);
      finding->byte = block.byte_of(event);
      out.push_back(std::move(*finding));
    }
  }
}

void FileChecker::check_ref(const read::Block& block, const read::HashRef& ref) {
  const std::string_view kinds = ref.kind == '?' ? std::string_view("FSH") : std::string_view(&ref.kind, 1);
  for (const char kind : kinds) {
    key_.assign(1, kind).append(ref.hash);
    if (defined_.count(key_) != 0) return;
  }
  if (!undefined_.insert(key_).second) return;
  undefined_refs_.push_back(
      {block.first_line + ref.line, block.first_byte + ref.offset, false, false, false, "hash",
       std::string(ref.key) + " " + std::string(ref.hash) + " has no record before it in this file"});
}

std::uint64_t FileChecker::unexplained() const {
  if (!ours_) return 0;
  return ended_ ? missing_.unexplained(told_, before_end_) : missing_.unexplained(last_id_, complete_);
}

void FileChecker::finish(std::vector<Finding>& out) {
  for (Finding& finding : undefined_refs_) {
    // The original writes a string's record only in the first process that uses it; a recovered trace may have lost it.
    finding.warning = !ours_ || recovered_;
    out.push_back(std::move(finding));
  }
  if (overlaps_ != 0) {
    first_overlap_.kind = "nesting";
    first_overlap_.warning = first_overlap_.legal = true;
    first_overlap_.reason += "; " + counted(overlaps_, "such region") + " in this file";
    out.push_back(std::move(first_overlap_));
  }
  if (ours_ && !ended_ && has_id_) {
    if (auto finding = missing_.judge(last_id_, complete_, "the ids tell")) out.push_back(std::move(*finding));
  }
  if (timed_ && started_ && !ended_ && !recovered_) {
    out.push_back({0, 0, false, true, false, "no_end", "no `end` event: the process died, or is still running"});
  }
}

}  // namespace dft::tools
