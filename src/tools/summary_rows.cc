// SPDX-License-Identifier: MIT
#include "tools/summary_rows.h"

#include <algorithm>

#include "base/hash.h"
#include "tools/args_reader.h"
#include "tools/gpu_interval.h"
#include "tools/gpu_rows.h"
#include "tools/io_bytes.h"

namespace dft::tools {
namespace {

constexpr std::int64_t kFirstLane = std::int64_t{1} << 30;

std::uint64_t thread_key(std::int64_t pid, std::int64_t tid) {
  return static_cast<std::uint64_t>(pid) << 32 ^ static_cast<std::uint64_t>(tid);
}
bool is_io(int type) { return type == static_cast<int>(model::Layer::kLibcIo); }

}  // namespace

std::size_t SummaryRows::KeyHash::operator()(const Key& key) const {
  return base::table_hash(key.name) ^ base::table_hash(key.cat) * 31 ^ static_cast<std::size_t>(key.type);
}

SummaryRow& SummaryRows::row_of(const read::Event& event) {
  const auto found = index_.find(Key{event.name, event.cat, event.type});
  if (found != index_.end()) return *found->second;
  SummaryRow& row = rows_.emplace_back();
  row.type = event.type;
  row.name = event.name;
  row.cat = event.cat;
  if (is_io(row.type) || is_gpu_layer(row.type)) row.busy = std::make_unique<IntervalUnion>();
  index_.emplace(Key{row.name, row.cat, row.type}, &row);
  return row;
}

SummaryRows::Thread& SummaryRows::thread_of(const read::Event& event) {
  const auto key = thread_key(event.pid, event.tid);
  if (last_ != nullptr && key == last_thread_) return *last_;
  last_thread_ = key;
  last_ = &threads_[key];
  if (last_->lane == nullptr && event.tid >= kFirstLane && is_gpu_layer(event.type)) {
    last_->lane = &lanes_.emplace_back(LaneRow{event.pid, event.tid, 0, {}, 0});
  }
  return *last_;
}

void SummaryRows::add_metadata(const read::Event& event) {
  if (event.name != model::kThreadName || event.tid < kFirstLane || !is_gpu_layer(event.type)) return;
  lane_names_[thread_key(event.pid, event.tid)] = find_arg(event.args, "name").value_or("");
}

std::string SummaryRows::lane_name(const LaneRow& lane) const {
  const auto found = lane_names_.find(thread_key(lane.pid, lane.tid));
  return found == lane_names_.end() ? std::string() : found->second;
}

void SummaryRows::add(const read::Event& event, std::uint64_t unit_ns) {
  SummaryRow& row = row_of(event);
  Thread& thread = thread_of(event);
  std::uint64_t begin = event.ts * unit_ns;
  std::uint64_t duration = event.dur * unit_ns;
  if (event.has(read::kArgDurNs) && event.number[read::kArgDurNs] >= 0) {
    duration = static_cast<std::uint64_t>(event.number[read::kArgDurNs]);
    row.step_ns = 1;
  } else {
    row.step_ns = unit_ns;
  }
  std::uint64_t children = 0;
  if (thread.lane == nullptr) {
    const Nesting::Result nested = thread.nesting.add(event.ts, event.end());
    children = nested.children * unit_ns;
    estimated_self_ += nested.exact ? 0 : 1;
    unordered_ += nested.in_order ? 0 : 1;
  } else {
    begin = place_on_lane(event, unit_ns, thread.lane->end_ns).begin;
    ++thread.lane->count;
    thread.lane->busy.add(begin, begin + duration);
  }
  ++row.count;
  row.total_ns += duration;
  row.self_ns += duration - std::min(duration, children);
  row.min_ns = std::min(row.min_ns, duration);
  row.max_ns = std::max(row.max_ns, duration);
  row.durations.add(duration);
  if (row.busy) row.busy->add(begin, begin + duration);
  if (is_io(row.type) || (is_gpu_layer(row.type) && event.has(read::kArgBytes))) {
    without_args_ += event.args.empty() ? 1 : 0;
    if (const auto bytes = io_bytes(event)) {
      row.bytes += *bytes;
      row.has_bytes = true;
    }
  }
  first_ns_ = std::min(first_ns_, begin);
  last_ns_ = std::max(last_ns_, begin + duration);
}

}  // namespace dft::tools
