// SPDX-License-Identifier: MIT
// Purpose: events -> one row per (layer, category, name), in one pass and bounded memory.
// Threads: one owner. Times in nanoseconds.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "read/event.h"
#include "tools/interval_union.h"
#include "tools/log_histogram.h"
#include "tools/nesting.h"

namespace dft::tools {

struct SummaryRow {
  int type = 0;
  std::string name;
  std::string cat;
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;
  std::uint64_t min_ns = ~std::uint64_t{0};
  std::uint64_t max_ns = 0;
  std::uint64_t bytes = 0;
  bool has_bytes = false;
  std::uint64_t step_ns = 1;  // unit of the times in it
  LogHistogram durations;
  std::unique_ptr<IntervalUnion> busy;  // I/O and GPU layers
};

struct LaneRow {
  std::int64_t pid;
  std::int64_t tid;
  std::uint64_t count = 0;
  IntervalUnion busy;
  std::uint64_t end_ns = 0;  // of the event before
};

class SummaryRows {
 public:
  void add(const read::Event& event, std::uint64_t unit_ns);
  void add_metadata(const read::Event& event);  // names of GPU lanes
  const std::deque<SummaryRow>& rows() const { return rows_; }
  const std::deque<LaneRow>& lanes() const { return lanes_; }
  std::string lane_name(const LaneRow& lane) const;                 // "GPU 0 stream 7"; empty: the trace does not tell
  std::uint64_t estimated_self() const { return estimated_self_; }  // events whose self time is an estimate
  std::uint64_t without_args() const { return without_args_; }      // I/O events without args
  std::uint64_t unordered() const { return unordered_; }  // events that ended before earlier lines of their thread
  std::uint64_t first_ns() const { return first_ns_; }
  std::uint64_t last_ns() const { return last_ns_; }

 private:
  struct Key {
    std::string_view name;
    std::string_view cat;
    int type;
    bool operator==(const Key& other) const { return type == other.type && name == other.name && cat == other.cat; }
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct Thread {
    Nesting nesting;
    LaneRow* lane = nullptr;
  };
  SummaryRow& row_of(const read::Event& event);
  Thread& thread_of(const read::Event& event);

  std::deque<SummaryRow> rows_;
  std::deque<LaneRow> lanes_;
  std::unordered_map<std::uint64_t, std::string> lane_names_;
  std::unordered_map<Key, SummaryRow*, KeyHash> index_;
  std::unordered_map<std::uint64_t, Thread> threads_;
  std::uint64_t last_thread_ = 0;
  Thread* last_ = nullptr;
  std::uint64_t estimated_self_ = 0;
  std::uint64_t without_args_ = 0;
  std::uint64_t unordered_ = 0;
  std::uint64_t first_ns_ = ~std::uint64_t{0};
  std::uint64_t last_ns_ = 0;
};

}  // namespace dft::tools
