// SPDX-License-Identifier: MIT
#include "tools/trace_verdict.h"

#include <algorithm>
#include <utility>

#include "tools/progress.h"

namespace dft::tools {

void VerdictMaker::block(const read::Block& block) {
  checker_->block(block, block.sized_member, found_);
  for (const auto& problem : block.problems) {
    // The original repeats keys in `used`; who reads it lives with that.
    const bool known = problem.kind == read::ProblemKind::kDuplicateKey && !checker_->ours();
    found_.push_back({problem.line, problem.byte, problem.in_file, known, false,
                      std::string(read::problem_name(problem.kind)), problem.reason});
  }
  keep();
}

FileVerdict VerdictMaker::finish(const read::FileReport& report) {
  checker_->finish(found_);
  if (!checker_->any() && verdict_.errors == 0 && found_.empty()) {
    found_.push_back({0, 0, false, false, false, "empty_file", "the file holds no record"});
  }
  keep();
  verdict_.lines = report.lines;
  verdict_.events = checker_->events();
  verdict_.ours = checker_->ours();
  verdict_.ended = checker_->ended();
  verdict_.recovered = checker_->recovered();
  verdict_.unexplained = checker_->unexplained();
  checker_ = std::make_unique<FileChecker>();
  return std::exchange(verdict_, FileVerdict{});
}

void VerdictMaker::keep() {
  std::stable_sort(found_.begin(), found_.end(), [](const Finding& a, const Finding& b) { return a.line < b.line; });
  for (auto& finding : found_) {
    finding.warning &= finding.legal || !strict_loss_;
    ++(finding.warning ? verdict_.warnings : verdict_.errors);
    if (verdict_.findings.size() < most_) verdict_.findings.push_back(std::move(finding));
  }
  found_.clear();
}

read::ParseOptions strict_parse() {
  read::ParseOptions parse;
  parse.strict = true;
  parse.collect_refs = true;
  return parse;
}

FileVerdict judge_trace(const std::string& trace) {
  struct Judge : read::Consumer {
    VerdictMaker maker{false, 10'000};
    FileVerdict verdict;
    bool block(const read::Block& block) override {
      maker.block(block);
      return true;
    }
    void file_done(const read::FileReport& report) override { verdict = maker.finish(report); }
  } judge;
  read::ScanOptions options;
  options.parse = strict_parse();
  scan_with_bar("checking", {trace}, options, judge);
  auto& findings = judge.verdict.findings;
  std::stable_partition(findings.begin(), findings.end(), [](const Finding& finding) { return !finding.warning; });
  return std::move(judge.verdict);
}

}  // namespace dft::tools
