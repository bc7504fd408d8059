// SPDX-License-Identifier: MIT
// Purpose: the frame of a report over traces: inputs, filters, problems, losses, one pass.
// Threads: see read/scanner.h; prepare() runs on workers.
#pragma once

#include <string>
#include <vector>

#include "read/scanner.h"
#include "tools/losses.h"
#include "tools/selection.h"

namespace dft::tools {

class Report : public read::Consumer {
 public:
  explicit Report(const Selection& selection) : filter_(selection), traces_(selection, log_) {}
  // Reads everything. Returns an exit status that is not 0 only when nothing could be read at all or an option is
  // wrong.
  int read(bool need_hashes, bool keep_metadata);
  bool damaged() const { return log_.damaged(); }
  const Losses& losses() const { return losses_; }
  const TraceSet& traces() const { return traces_; }
  const read::HashTable& hashes() const { return hashes_; }
  std::uint64_t start_ns() const { return start_ns_; }

 protected:
  // Every event that passes the filters, in file order; false stops.
  virtual bool event(const read::Block& block, const read::Event& event) = 0;
  virtual void file_end(const read::FileReport&) {}
  // Events before filters (losses are not filtered either).
  virtual void every_event(const read::Block&, const read::Event&) {}

 private:
  bool block(const read::Block& block) final;
  void file_done(const read::FileReport& report) final;

  ProblemLog log_;
  Filter filter_;
  TraceSet traces_;
  Losses losses_;
  read::HashTable hashes_;
  std::uint64_t start_ns_ = 0;
  std::size_t open_file_ = ~std::size_t{0};
  bool keep_metadata_ = false;
};

}  // namespace dft::tools
