// SPDX-License-Identifier: MIT
#include <memory>

#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/output.h"
#include "tools/selection.h"
#include "tools/trace_verdict.h"

namespace dft::tools {
namespace {

struct ValidateOptions {
  Selection selection;
  bool strict_loss = false;
  bool quiet = false;
  std::uint64_t most = 100;  // findings printed per file
};

class Validator : public read::Consumer {
 public:
  Validator(const ValidateOptions& options, const std::vector<std::string>& files)
      : options_(options), files_(files), maker_(options.strict_loss, options.most) {}

  bool block(const read::Block& block) override {
    maker_.block(block);
    return true;
  }

  void file_done(const read::FileReport& report) override {
    verdicts.push_back(maker_.finish(report));
    if (!options_.selection.json && !options_.quiet) print(files_[report.file], verdicts.back());
  }

  std::vector<FileVerdict> verdicts;

 private:
  static void print(const std::string& file, const FileVerdict& verdict) {
    Output out;
    for (const auto& finding : verdict.findings) {
      out << file << (finding.line != 0 ? ":" + std::to_string(finding.line) : "") << ": "
          << (finding.warning ? "warning: " : "") << finding.reason;
      if (finding.line != 0 || finding.in_file) {
        out << " (byte " << std::to_string(finding.byte) << (finding.in_file ? " of the file)" : " of the text)");
      }
      out << "\n";
    }
    const std::uint64_t hidden = verdict.errors + verdict.warnings - verdict.findings.size();
    if (hidden != 0) out << file << ": and " << counted(hidden, "more finding") << "\n";
    out << file << ": " << (verdict.errors == 0 ? "valid" : "INVALID, " + counted(verdict.errors, "problem"));
    if (verdict.warnings != 0) out << ", " << counted(verdict.warnings, "warning");
    out << " (" << counted(verdict.lines, "line") << ", " << counted(verdict.events, "event") << ")\n";
  }

  const ValidateOptions& options_;
  const std::vector<std::string>& files_;
  VerdictMaker maker_;
};

void print_json(const std::vector<std::string>& files, const std::vector<FileVerdict>& verdicts) {
  Output out;
  begin_json(out, "validate");
  auto& json = out.json();
  json.key("rows").begin_array();
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const FileVerdict& verdict = verdicts[i];
    json.begin_object().key("file").string(files[i]).key("valid").raw(json_bool(verdict.errors == 0));
    json.key("lines").number(verdict.lines).key("events").number(verdict.events);
    json.key("errors").number(verdict.errors).key("warnings").number(verdict.warnings).key("findings").begin_array();
    for (const auto& finding : verdict.findings) {
      json.begin_object().key("kind").string(finding.kind).key("reason").string(finding.reason);
      if (finding.line != 0) json.key("line").number(finding.line);
      if (finding.line != 0 || finding.in_file)
        json.key(finding.in_file ? "file_byte" : "text_byte").number(finding.byte);
      json.key("warning").raw(json_bool(finding.warning)).end_object();
      out.flush_some();
    }
    json.end_array().end_object();
  }
  json.end_array();
  end_json(out);
}

int validate(const ValidateOptions& options) {
  ProblemLog log;
  const TraceSet traces(options.selection, log);
  if (traces.empty()) return kExitDamaged;
  Validator validator(options, traces.files());
  traces.scan(strict_parse(), validator);
  if (options.selection.json) print_json(traces.files(), validator.verdicts);
  bool good = !log.damaged();
  for (const auto& verdict : validator.verdicts) good &= verdict.errors == 0;
  return good ? kExitGood : kExitDamaged;
}

}  // namespace

void add_validate(CommandLine& line) {
  const auto options = std::make_shared<ValidateOptions>();
  Command& command = line.add("validate", "Check every line; name file, line, byte and reason of what is wrong",
                              [options] { return validate(*options); });
  add_inputs(command, options->selection);
  command.flag("--strict-loss", options->strict_loss, "Losses and a missing end fail too")
      .flag("-q,--quiet", options->quiet, "Print nothing; only the exit status tells")
      .number("--max-findings", options->most, 1, 1'000'000'000, "Findings printed per file (default: 100)");
}

}  // namespace dft::tools
