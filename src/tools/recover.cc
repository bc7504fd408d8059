// SPDX-License-Identifier: MIT
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <set>

#include "model/trace_format.h"
#include "read/inputs.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/output.h"
#include "tools/recovery.h"

namespace dft::tools {
namespace {

struct Options {
  std::vector<std::string> inputs;
  RecoverOptions recovery;
  bool json = false;
};

bool exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

bool is_crash_file(const std::string& path) {
  const std::string_view tail = model::kCrashFileSuffix;
  return path.size() > tail.size() && path.compare(path.size() - tail.size(), tail.size(), tail) == 0;
}

// Crash files first; traces only where no crash file lies beside them. What was made of a damaged trace is no input
// beside it.
std::vector<std::string> work_of(const Options& options, std::vector<std::string>& errors) {
  const auto crashes = read::find_inputs(options.inputs, model::kCrashFileSuffix);
  auto traces = read::find_inputs(options.inputs);
  for (const auto& [damaged, recovered] : traces.replaced) {
    std::replace(traces.files.begin(), traces.files.end(), recovered, damaged);
  }
  std::vector<std::string> work;
  std::set<std::string> seen;
  for (const auto& files : {crashes.files, traces.files}) {
    for (const auto& file : files) {
      const std::string crash = read::trace_base(file) + std::string(model::kCrashFileSuffix);
      const std::string& chosen = exists(crash) ? crash : file;
      if (seen.insert(chosen).second) work.push_back(chosen);
    }
  }
  if (work.empty()) errors = traces.errors;
  return work;
}

int recover(const Options& options) {
  std::vector<std::string> errors;
  const auto work = work_of(options, errors);
  for (const auto& error : errors) message(error);
  if (work.empty()) return kExitDamaged;
  if (!options.recovery.output.empty() && work.size() > 1) {
    message("--output takes one input, these are " + std::to_string(work.size()));
    return kExitUsage;
  }
  bool good = true;
  Output out;
  if (options.json) {
    begin_json(out, "recover");
    out.json().key("rows").begin_array();
  }
  for (const auto& file : work) {
    const RecoverResult result =
        is_crash_file(file) ? recover_crash(file, options.recovery) : recover_lines(file, options.recovery);
    good &= result.good;
    if (options.json) {
      out.json().begin_object().key("input").string(file).key("trace").string(result.trace);
      out.json().key("good").raw(json_bool(result.good)).key("events").number(result.events);
      out.json()
          .key("open_regions")
          .number(result.regions)
          .key("missing")
          .number(result.missing)
          .key("text")
          .string(result.text)
          .end_object();
    } else if (result.good) {
      out << result.text << "\n";
    }
    if (!result.good) message(result.text);
  }
  if (options.json) {
    out.json().end_array();
    end_json(out);
  }
  return good ? kExitGood : kExitDamaged;
}

}  // namespace

void add_recover(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  Command& command =
      line.add("recover", "Complete the trace of a process that was killed", [options] { return recover(*options); });
  command.inputs(options->inputs, "Crash files, traces, folders, or prefixes")
      .text("-o,--output", options->recovery.output, "FILE", "Write here; inputs stay as they are")
      .flag("--keep", options->recovery.keep, "Keep the crash file")
      .flag("--force", options->recovery.force,
            "Also when the process seems to be alive, or the result is there already")
      .flag("--json", options->json, "Print one JSON object");
}

}  // namespace dft::tools
