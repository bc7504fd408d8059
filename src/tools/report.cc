// SPDX-License-Identifier: MIT
#include "tools/report.h"

#include "tools/commands.h"
#include "tools/output.h"

namespace dft::tools {

int Report::read(bool need_hashes, bool keep_metadata) {
  if (!filter_.prepare()) return kExitUsage;
  if (traces_.empty()) return kExitDamaged;
  keep_metadata_ = keep_metadata;
  if (filter_.needs_start()) start_ns_ = traces_.find_start();
  filter_.set_start(start_ns_);
  if (need_hashes || filter_.by_file()) hashes_ = traces_.find_hashes();
  filter_.set_hashes(&hashes_);
  traces_.scan(read::ParseOptions{}, *this);
  log_.finish();
  return kExitGood;
}

bool Report::block(const read::Block& block) {
  if (open_file_ != block.file) {
    open_file_ = block.file;
    losses_.begin_file(traces_.files()[block.file]);
  }
  for (const auto& problem : block.problems) log_.report(traces_.files()[block.file], problem);
  for (const auto& each : block.events) {
    losses_.see(each);
    every_event(block, each);
    if (!keep_metadata_ && each.phase == model::Phase::kMetadata) continue;
    if (!filter_.keeps(each) || !filter_.keeps_here(each, block.unit_ns)) continue;
    if (!event(block, each)) return false;
  }
  return true;
}

void Report::file_done(const read::FileReport& report) {
  losses_.end_file();
  file_end(report);
}

}  // namespace dft::tools
