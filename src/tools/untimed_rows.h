// SPDX-License-Identifier: MIT
// Purpose: records that have no duration of their own, counted: counter samples, and aggregated records with the events
//          that they stand for.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "read/event.h"

namespace dft::tools {

class UntimedRows {
 public:
  struct Key {
    int type;
    std::string cat;
    std::string name;
    bool aggregated;
    bool operator<(const Key& other) const {
      return std::tie(type, cat, name, aggregated) < std::tie(other.type, other.cat, other.name, other.aggregated);
    }
    std::string_view kind() const { return aggregated ? "aggregated" : "counter"; }
  };
  struct Counts {
    std::uint64_t records = 0;
    std::uint64_t events = 0;  // of aggregated records: what they sum up
  };

  void add(const read::Event& event) {
    const bool aggregated = event.phase == model::Phase::kAggregated;
    Counts& counts = rows_[Key{event.type, std::string(event.cat), std::string(event.name), aggregated}];
    ++counts.records;
    if (aggregated && event.has(read::kArgDftCount) && event.number[read::kArgDftCount] > 0) {
      counts.events += static_cast<std::uint64_t>(event.number[read::kArgDftCount]);
    }
  }
  const std::map<Key, Counts>& rows() const { return rows_; }

 private:
  std::map<Key, Counts> rows_;
};

}  // namespace dft::tools
