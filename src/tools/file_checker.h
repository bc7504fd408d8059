// SPDX-License-Identifier: MIT
// Purpose: the rules that span the records of one file: order of ids, hashes defined before use, nesting, start and
// end.
//          What a line alone can tell, the strict parser has checked already.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "read/event.h"
#include "tools/finding.h"
#include "tools/missing.h"
#include "tools/nesting.h"

namespace dft::tools {

class FileChecker {
 public:
  explicit FileChecker(bool ours = false) : ours_(ours) {}
  // `sized_members`: the file has gzip members that only our writer makes.
  void block(const read::Block& block, bool sized_members, std::vector<Finding>& out);
  // One event of a block, without its references.
  void check(const read::Block& block, const read::Event& event, std::vector<Finding>& out);
  void finish(std::vector<Finding>& out);
  std::uint64_t events() const { return events_; }
  bool any() const { return any_; }    // a record, be it metadata
  bool ours() const { return ours_; }  // written by this DFTracer, so that every rule of ours applies
  bool ended() const { return ended_; }
  bool recovered() const { return recovered_; }
  std::uint64_t unexplained() const;  // numbered events that are missing, and no loss record says why

 private:
  void check_id(const read::Block& block, const read::Event& event, std::vector<Finding>& out);
  void check_metadata(const read::Block& block, const read::Event& event, std::vector<Finding>& out);
  void check_nesting(const read::Block& block, const read::Event& event);
  void check_life_cycle(const read::Block& block, const read::Event& event, std::vector<Finding>& out);
  void check_ref(const read::Block& block, const read::HashRef& ref);
  void add(const read::Block& block, const read::Event& event, const char* kind, std::string reason,
           std::vector<Finding>& out, bool warning = false);

  bool ours_;
  bool any_ = false;
  bool started_ = false;  // more than one `start` is right: it is written again when its block was lost
  bool ended_ = false;
  bool recovered_ = false;  // `dftracer recover` wrote it
  bool timed_ = false;      // a COMPLETE or COUNTER record was seen
  std::uint64_t events_ = 0;
  std::uint64_t complete_ = 0;
  std::uint64_t last_id_ = 0;
  bool has_id_ = false;
  std::uint64_t told_ = 0;  // num_events of `end`
  std::uint64_t before_end_ = 0;
  Missing missing_;
  std::uint64_t overlaps_ = 0;
  Finding first_overlap_;
  std::unordered_set<std::string> defined_;
  std::unordered_set<std::string> undefined_;  // in undefined_refs_ already
  std::vector<Finding> undefined_refs_;        // what to think of them depends on the whole file
  std::string key_;
  std::unordered_map<std::uint64_t, Nesting> threads_;
  std::uint64_t last_thread_ = 0;
  Nesting* last_nesting_ = nullptr;
};

}  // namespace dft::tools
