// SPDX-License-Identifier: MIT
// Purpose: what GPUs did and why they waited, from the events of a trace: busy and idle time per device, kernels,
// copies
//          by direction, the time from a launch's call to its work, synchronisation, graphs, and what was not recorded.
// Threads: one owner.
// Bounds: memory depends on processes, devices, lanes and names, not on the number of events. kMostNames kernels are
//         kept apart, later names are one row; see launch_join.h and interval_union.h for the rest.
// See: docs/tools.md (GPU part), docs/gpu.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "read/event.h"
#include "tools/gpu_kinds.h"
#include "tools/interval_union.h"
#include "tools/launch_join.h"
#include "tools/log_histogram.h"

namespace dft::tools {

// Count, sum, extremes and percentiles of durations.
struct Spread {
  std::uint64_t count = 0;
  std::uint64_t total = 0;
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t most = 0;
  LogHistogram histogram;
  std::uint64_t step = 1;  // the unit in which values come

  void add(std::uint64_t value);
  double mean() const { return count == 0 ? 0 : static_cast<double>(total) / static_cast<double>(count); }
  std::uint64_t at(double share) const;
};

// One device as one process sees it.
struct GpuDevice {
  std::uint32_t index;  // in GpuRows::devices()
  std::size_t file;
  std::int64_t pid;
  std::int64_t id;  // -1: the trace does not tell
  int type;
  std::string name, uuid;
  std::uint64_t first_ns = ~std::uint64_t{0};  // of its work: kernels, copies, memsets, graphs
  std::uint64_t last_ns = 0;
  std::uint64_t kernels = 0;
  std::uint64_t copies = 0;  // with memsets
  std::uint64_t graphs = 0;
  IntervalUnion busy;         // by any work
  IntervalUnion kernel_busy;  // kernels and graphs
  IntervalUnion copy_busy;
  Spread kernel_latency;  // begin of the call to begin of the work
  Spread graph_latency;

  bool worked() const { return last_ns != 0; }
  std::uint64_t span() const { return worked() ? last_ns - first_ns : 0; }
  std::uint64_t idle() const { return span() - std::min(span(), busy.length()); }
};

struct GpuTimed {
  std::uint64_t count = 0;
  std::uint64_t total = 0;
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t most = 0;
  std::uint64_t bytes = 0;
  void add(std::uint64_t duration);
};

struct GpuGraphs {
  std::uint64_t launches = 0;          // recorded as one event each
  std::uint64_t hidden_nodes = 0;      // that they stand for, where the trace tells
  std::uint64_t launches_counted = 0;  // launches of graphs whose number of nodes the trace tells
  std::uint64_t nodes_seen = 0;        // work that carries a node's id
};

class GpuRows {
 public:
  static constexpr std::size_t kMostNames = 65'536;
  static constexpr std::size_t kMostGraphs = 65'536;

  void add(const read::Block& block, const read::Event& event);           // complete events that pass the filters
  void add_metadata(const read::Block& block, const read::Event& event);  // every metadata record
  void end_file();
  void finish();  // nothing more comes

  bool any() const { return worked() || calls_ != 0 || !syncs_.empty(); }
  bool worked() const {
    return std::any_of(devices_.begin(), devices_.end(), [](const GpuDevice& device) { return device.worked(); });
  }
  const std::deque<GpuDevice>& devices() const { return devices_; }
  // Names by falling time.
  std::vector<std::pair<std::string_view, const GpuTimed*>> kernels() const;
  const GpuTimed& other_kernels() const { return other_kernels_; }  // names beyond kMostNames
  std::uint64_t kernel_total() const;
  // Direction and kind of the host's memory -> what was copied.
  const std::map<std::pair<std::string, std::string>, GpuTimed>& copies() const { return copies_; }
  const std::map<std::string, GpuTimed>& syncs() const { return syncs_; }
  GpuGraphs graphs() const;
  std::uint64_t calls() const { return calls_; }  // API calls
  std::uint64_t work_alone() const { return join_.work_alone(); }
  std::uint64_t suspects() const { return suspects_ + join_.reversed(); }
  // What the start of the GPU part said when it was not simply on, and how often.
  const std::map<std::string, std::uint64_t>& status() const { return status_; }

 private:
  struct Lane {
    std::uint64_t end = 0;
    std::int64_t device = -1;  // as its name says; -1: not known
  };
  struct GraphState {
    std::uint64_t launches = 0;
    std::uint64_t nodes = 0;
  };
  GpuDevice& device_of(std::size_t file, const read::Event& event, std::int64_t id);
  std::uint32_t process_of(const read::Event& event);
  void add_work(const read::Block& block, const read::Event& event, GpuKind kind);
  void add_kernel(const read::Event& event, std::uint64_t duration);
  void add_copy(const read::Event& event, std::uint64_t duration);
  void add_graph(const read::Event& event);
  void add_call(const read::Block& block, const read::Event& event);
  void take_matches();
  void note_status(const read::Event& event);

  std::deque<GpuDevice> devices_;
  std::size_t first_of_file_ = 0;
  GpuDevice* last_device_ = nullptr;
  std::unordered_map<std::uint64_t, Lane> lanes_;  // of the open file
  std::unordered_map<std::int64_t, std::uint32_t> processes_;
  std::uint32_t next_process_ = 1;
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, GpuTimed> kernels_;
  GpuTimed other_kernels_;
  std::map<std::pair<std::string, std::string>, GpuTimed> copies_;
  std::map<std::string, GpuTimed> syncs_;
  std::map<std::pair<std::uint32_t, std::int64_t>, GraphState> graphs_;  // by process and graph
  GpuGraphs graph_sums_;
  LaunchJoin join_;
  std::uint64_t calls_ = 0;
  std::uint64_t suspects_ = 0;
  std::map<std::string, std::uint64_t> status_;
};

bool is_gpu_layer(int type);

}  // namespace dft::tools
