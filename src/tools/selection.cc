// SPDX-License-Identifier: MIT
#include "tools/selection.h"

#include <fnmatch.h>

#include <algorithm>

#include "tools/args_reader.h"
#include "tools/command_line.h"
#include "tools/output.h"
#include "tools/progress.h"

namespace dft::tools {

void add_inputs(Command& command, Selection& selection) {
  command.inputs(selection.inputs, "Trace files, folders, or prefixes (./trace means ./trace-*.pfw*)")
      .number("-j,--jobs", selection.jobs, 1, 256, "Worker threads (default: one per core, at most 16)")
      .flag("--json", selection.json, "Print one JSON object");
}

void add_filters(Command& command, Selection& selection) {
  command.group("Filters")
      .texts("--name", selection.names, "GLOB", "Only events whose name matches; may be given more than once")
      .texts("--cat", selection.cats, "GLOB", "Only this category")
      .texts("--type", selection.types, "LAYER", "Only this layer, as a name or number (LIBC_IO, 14)")
      .texts("--file", selection.files, "GLOB", "Only events on files whose path matches")
      .numbers("--pid", selection.pids, "PID", "Only this process")
      .numbers("--tid", selection.tids, "TID", "Only this thread or lane")
      .text("--from", selection.from, "TIME",
            "Only events that end at or after: 1.5s, 200ms from the start, or a plain ts")
      .text("--to", selection.to, "TIME", "Only events that begin at or before");
}

bool glob_match(const std::string& pattern, std::string_view text) {
  return fnmatch(pattern.c_str(), std::string(text).c_str(), 0) == 0;
}

void ProblemLog::input_error(const std::string& text) {
  damaged_ = true;
  message(text);
}

std::string problem_text(const std::string& file, const read::Problem& problem) {
  std::string text = file;
  if (problem.line != 0) text += ':' + std::to_string(problem.line);
  text += ": " + problem.reason + " (byte " + std::to_string(problem.byte) +
          (problem.in_file ? " of the file)" : " of the text)");
  return text;
}

void ProblemLog::report(const std::string& file, const read::Problem& problem) {
  if (problem.kind == read::ProblemKind::kNoNewline) return;  // nothing is missing from what can be read
  damaged_ = true;
  if (seen_++ < kPrinted) message(problem_text(file, problem));
}

void ProblemLog::finish() {
  if (seen_ > kPrinted) message("and " + counted(seen_ - kPrinted, "more problem") + "; `dftracer validate` lists all");
  seen_ = 0;
}

bool Filter::prepare() {
  const auto parse = [](const char* option, const std::string& text, std::optional<TimePoint>& out) {
    if (text.empty()) return true;
    out = parse_time_point(text);
    if (!out)
      message(std::string(option) + " " + text +
              ": a time is 1.5s, 200ms, 10us, 5ns, 2m, 1h from the trace's start, or a plain ts");
    return out.has_value();
  };
  return parse("--from", selection_.from, from_) && parse("--to", selection_.to, to_);
}

bool Filter::keeps(const read::Event& event) const {
  const auto any = [](const std::vector<std::string>& globs, std::string_view text) {
    return globs.empty() ||
           std::any_of(globs.begin(), globs.end(), [&](const auto& glob) { return glob_match(glob, text); });
  };
  const auto one = [](const std::vector<std::int64_t>& numbers, std::int64_t number) {
    return numbers.empty() || std::find(numbers.begin(), numbers.end(), number) != numbers.end();
  };
  if (!one(selection_.pids, event.pid) || !one(selection_.tids, event.tid)) return false;
  if (!any(selection_.names, event.name) || !any(selection_.cats, event.cat)) return false;
  return any(selection_.types, model::layer_name(event.type)) ||
         (!selection_.types.empty() && any(selection_.types, std::to_string(event.type)));
}

std::uint64_t Filter::edge(const TimePoint& point, std::uint64_t unit_ns) const {
  return point.relative ? start_ns_ + point.ns : point.unit * unit_ns;
}

bool Filter::keeps_here(const read::Event& event, std::uint64_t unit_ns) const {
  if (by_time()) {
    if (event.phase == model::Phase::kMetadata) return false;
    if (from_ && event.end() * unit_ns < edge(*from_, unit_ns)) return false;
    if (to_ && event.ts * unit_ns > edge(*to_, unit_ns)) return false;
  }
  return !by_file() || is_on_file(event);
}

bool Filter::is_on_file(const read::Event& event) const {
  const auto fits = [this](const std::string& path) {
    return std::any_of(selection_.files.begin(), selection_.files.end(),
                       [&](const auto& glob) { return glob_match(glob, path); });
  };
  if (event.fhash.empty()) {  // the first versions wrote paths plainly
    const auto path = find_arg(event.args, "fname");
    return path && fits(*path);
  }
  const std::string* path = hashes_ == nullptr ? nullptr : hashes_->find('F', event.fhash);
  return path != nullptr && fits(*path);
}

TraceSet::TraceSet(const Selection& selection, ProblemLog& log) : selection_(selection) {
  read::Inputs inputs = read::find_inputs(selection.inputs);
  for (const auto& error : inputs.errors) log.input_error(error);
  if (inputs.replaced.size() == 1) {
    message(inputs.replaced[0].recovered + " is read in place of " + inputs.replaced[0].damaged);
  } else if (!inputs.replaced.empty()) {
    message(std::to_string(inputs.replaced.size()) + " recovered traces are read in place of the damaged ones");
  }
  files_ = std::move(inputs.files);
}

std::uint64_t TraceSet::find_start() const {
  struct First : read::Consumer {
    std::uint64_t start = ~std::uint64_t{0};
    bool block(const read::Block& block) override {
      bool timed = false;
      for (const auto& event : block.events) {
        if (event.phase == model::Phase::kMetadata || event.phase == model::Phase::kUnknown) continue;
        start = std::min(start, event.ts * block.unit_ns);
        timed = true;
      }
      return !timed;
    }
  } first;
  for (const auto& file : files_) {
    read::ScanOptions options;
    options.workers = 1;
    options.block_size = 64 * 1024;
    read::scan({file}, options, first);
  }
  return first.start == ~std::uint64_t{0} ? 0 : first.start;
}

read::HashTable TraceSet::find_hashes() const {
  struct Hashes : read::Consumer {
    read::HashTable table;
    bool block(const read::Block& block) override {
      for (const auto& event : block.events) table.add(event);
      return true;
    }
  } hashes;
  read::ParseOptions parse;
  parse.hash_records_only = true;
  scan(parse, hashes);
  return std::move(hashes.table);
}

bool TraceSet::scan(read::ParseOptions parse, read::Consumer& consumer) const {
  read::ScanOptions options;
  options.parse = parse;
  options.workers = static_cast<unsigned>(selection_.jobs);
  return scan_with_bar("reading", files_, options, consumer);
}

}  // namespace dft::tools
