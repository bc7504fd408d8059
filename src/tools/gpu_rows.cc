// SPDX-License-Identifier: MIT
#include "tools/gpu_rows.h"

#include <algorithm>
#include <cstdio>

#include "tools/args_reader.h"
#include "tools/gpu_interval.h"
#include "tools/gpu_kinds.h"

namespace dft::tools {
namespace {

constexpr std::size_t kMostCopyKinds = 64;
constexpr std::size_t kMostStatuses = 20;

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// A name under which calls start GPU work.
bool launches(std::string_view name) { return has(name, "Launch") && !has(name, "LaunchHostFunc"); }

bool has_suspect_times(std::string_view args) {
  constexpr std::size_t kTail = 40;  // it is the last arg
  return has(args.size() > kTail ? args.substr(args.size() - kTail) : args, "\"clock_suspect\"");
}

std::uint64_t number_of(const read::Event& event, read::KnownArg arg) {
  return event.has(arg) && event.number[arg] >= 0 ? static_cast<std::uint64_t>(event.number[arg]) : 0;
}

std::uint64_t lane_key(const read::Event& event) {
  return static_cast<std::uint64_t>(event.pid) << 32 ^ static_cast<std::uint64_t>(event.tid);
}

}  // namespace

bool is_gpu_layer(int type) {
  return type == static_cast<int>(model::Layer::kCuda) || type == static_cast<int>(model::Layer::kHip);
}

void Spread::add(std::uint64_t value) {
  ++count;
  total += value;
  least = std::min(least, value);
  most = std::max(most, value);
  histogram.add(value);
}
std::uint64_t Spread::at(double share) const {
  return count == 0 ? 0 : std::clamp(histogram.at(share, step), least, most);
}

void GpuTimed::add(std::uint64_t duration) {
  ++count;
  total += duration;
  least = std::min(least, duration);
  most = std::max(most, duration);
}

GpuDevice& GpuRows::device_of(std::size_t file, const read::Event& event, std::int64_t id) {
  const auto fits = [&](const GpuDevice& device) {
    return device.id == id && device.pid == event.pid && device.type == event.type;
  };
  if (last_device_ != nullptr && fits(*last_device_)) return *last_device_;
  for (std::size_t i = first_of_file_; i < devices_.size(); ++i) {
    if (fits(devices_[i])) return *(last_device_ = &devices_[i]);
  }
  last_device_ = &devices_.emplace_back();
  last_device_->index = static_cast<std::uint32_t>(devices_.size() - 1);
  last_device_->file = file;
  last_device_->pid = event.pid;
  last_device_->id = id;
  last_device_->type = event.type;
  return *last_device_;
}

std::uint32_t GpuRows::process_of(const read::Event& event) {
  std::uint32_t& number = processes_[event.pid];
  if (number == 0) number = next_process_++;
  return number;
}

void GpuRows::add(const read::Block& block, const read::Event& event) {
  if (!is_gpu_layer(event.type)) return;
  const GpuKind kind = gpu_kind_of(event);
  if (has_suspect_times(event.args)) ++suspects_;
  switch (kind) {
    case GpuKind::kApi: add_call(block, event); break;
    case GpuKind::kKernel:
    case GpuKind::kCopy:
    case GpuKind::kMemset:
    case GpuKind::kGraph: add_work(block, event, kind); break;
    case GpuKind::kSync: {
      std::uint64_t lane_end = 0;
      syncs_[std::string(event.name)].add(place_on_lane(event, block.unit_ns, lane_end).length());
      break;
    }
    case GpuKind::kOther: break;
  }
}

void GpuRows::add_work(const read::Block& block, const read::Event& event, GpuKind kind) {
  Lane& lane = lanes_[lane_key(event)];
  GpuDevice& device =
      device_of(block.file, event, event.has(read::kArgDevice) ? event.number[read::kArgDevice] : lane.device);
  const GpuInterval at = place_on_lane(event, block.unit_ns, lane.end);
  device.first_ns = std::min(device.first_ns, at.begin);
  device.last_ns = std::max(device.last_ns, at.end);
  device.busy.add(at.begin, at.end);
  if (kind == GpuKind::kKernel || kind == GpuKind::kGraph) {
    device.kernel_busy.add(at.begin, at.end);
    ++(kind == GpuKind::kKernel ? device.kernels : device.graphs);
    device.kernel_latency.step = device.graph_latency.step = block.unit_ns;
  } else {
    device.copy_busy.add(at.begin, at.end);
    ++device.copies;
  }
  if (kind == GpuKind::kKernel) add_kernel(event, at.length());
  if (kind == GpuKind::kCopy) add_copy(event, at.length());
  if (kind == GpuKind::kGraph) add_graph(event);
  const bool node = event.has(read::kArgGraphNode);
  if (kind != GpuKind::kGraph && node) ++graph_sums_.nodes_seen;
  if (!event.has(read::kArgCorrelation) || (kind != GpuKind::kKernel && kind != GpuKind::kGraph)) return;
  join_.work(process_of(event), static_cast<std::uint32_t>(event.number[read::kArgCorrelation]),
             event.ts * block.unit_ns, device.index, kind == GpuKind::kGraph, kind == GpuKind::kKernel && node);
  take_matches();
}

void GpuRows::add_kernel(const read::Event& event, std::uint64_t duration) {
  auto found = kernels_.find(event.name);
  if (found == kernels_.end()) {
    if (kernels_.size() >= kMostNames) return other_kernels_.add(duration);
    found = kernels_.emplace(names_.emplace_back(event.name), GpuTimed{}).first;
  }
  found->second.add(duration);
}

void GpuRows::add_copy(const read::Event& event, std::uint64_t duration) {
  std::string direction = copy_direction(event.name);
  const std::int64_t from = event.has(read::kArgSrcKind) ? event.number[read::kArgSrcKind] : 0;
  const std::int64_t to = event.has(read::kArgDstKind) ? event.number[read::kArgDstKind] : 0;
  const bool by_host = direction == "HtoD" || direction == "DtoH";
  // Between devices that do not see each other a copy is staged through the host, in two records: out of the one, into
  // the other. The second brings the bytes there.
  const bool staged = by_host && from == kDeviceMemory && to == kDeviceMemory;
  const bool counts = !staged || direction == "HtoD";
  std::string_view memory = staged ? "" : host_memory(direction == "HtoD" ? from : direction == "DtoH" ? to : 0);
  if (staged) direction = "PtoP staged";
  std::pair<std::string, std::string> key(std::move(direction), memory);
  if (copies_.size() >= kMostCopyKinds && copies_.find(key) == copies_.end()) key = {"others", ""};
  GpuTimed& copied = copies_[std::move(key)];
  copied.add(duration);
  if (counts) {
    copied.bytes += number_of(event, read::kArgBytes);
  } else {
    --copied.count;
  }
}

void GpuRows::add_graph(const read::Event& event) {
  ++graph_sums_.launches;
  const std::pair<std::uint32_t, std::int64_t> key(process_of(event),
                                                   event.has(read::kArgGraph) ? event.number[read::kArgGraph] : -1);
  if (graphs_.size() < kMostGraphs || graphs_.find(key) != graphs_.end()) ++graphs_[key].launches;
}

void GpuRows::add_call(const read::Block& block, const read::Event& event) {
  ++calls_;
  // Calls with their results (_EXT) may be recorded beside the plain ones.
  if (event.cat == "HIP_RUNTIME_API" && has(event.name, "Synchronize")) {
    std::uint64_t lane_end = 0;
    syncs_[std::string(event.name)].add(place_on_lane(event, block.unit_ns, lane_end).length());
  }
  if (!event.has(read::kArgCorrelation) || !launches(event.name)) return;
  join_.call(process_of(event), static_cast<std::uint32_t>(event.number[read::kArgCorrelation]),
             event.ts * block.unit_ns);
  take_matches();
}

void GpuRows::take_matches() {
  for (const LaunchJoin::Match& match : join_.matches()) {
    GpuDevice& device = devices_[match.device];
    (match.graph ? device.graph_latency : device.kernel_latency).add(match.latency_ns);
  }
  join_.matches().clear();
}

void GpuRows::add_metadata(const read::Block& block, const read::Event& event) {
  if (!is_gpu_layer(event.type)) return;
  if (event.name == "gpu_status") {
    note_status(event);
  } else if (event.name == "gpu_device") {
    const auto id = find_number(event.args, "device_id");
    if (!id) return;
    GpuDevice& device = device_of(block.file, event, static_cast<std::int64_t>(*id));
    device.name = find_arg(event.args, "name").value_or("");
    device.uuid = find_arg(event.args, "uuid").value_or("");
  } else if (event.name == "thread_name") {  // of a lane: "GPU 0 stream 7"
    const std::string name = find_arg(event.args, "name").value_or("");
    int device = -1;
    if (std::sscanf(name.c_str(), "GPU %d", &device) == 1) lanes_[lane_key(event)].device = device;
  } else if (event.name == "gpu_graph") {
    const auto id = find_number(event.args, "graph_id");
    const auto nodes = find_number(event.args, "nodes");
    const std::pair<std::uint32_t, std::int64_t> key(process_of(event), static_cast<std::int64_t>(id.value_or(0)));
    if (id && nodes && (graphs_.size() < kMostGraphs || graphs_.find(key) != graphs_.end())) {
      graphs_[key].nodes = *nodes;
    }
  }
}

void GpuRows::note_status(const read::Event& event) {
  const std::string state = find_arg(event.args, "state").value_or("");
  if (state == "on") return;
  std::string text = find_arg(event.args, "backend").value_or("GPU") + " " + state;
  for (const char* key : {"category", "code_name", "code"}) {
    const auto value = find_arg(event.args, key);
    if (!value) continue;
    text += (key[1] == 'a' ? " for " : ": ") + *value;
    if (key[1] == 'o') break;
  }
  if (const auto holder = find_arg(event.args, "holder")) text += ", held by " + *holder;
  if (const auto detail = find_arg(event.args, "detail")) text += " (" + *detail + ")";
  if (status_.size() < kMostStatuses || status_.find(text) != status_.end()) ++status_[text];
}

void GpuRows::end_file() {
  for (std::size_t i = first_of_file_; i < devices_.size(); ++i) {
    for (IntervalUnion* all : {&devices_[i].busy, &devices_[i].kernel_busy, &devices_[i].copy_busy}) all->settle();
  }
  first_of_file_ = devices_.size();
  last_device_ = nullptr;
  lanes_.clear();
  processes_.clear();
}

void GpuRows::finish() {
  join_.finish();
  take_matches();
}

std::vector<std::pair<std::string_view, const GpuTimed*>> GpuRows::kernels() const {
  std::vector<std::pair<std::string_view, const GpuTimed*>> sorted;
  for (const auto& [name, timed] : kernels_) sorted.emplace_back(name, &timed);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second->total != b.second->total ? a.second->total > b.second->total : a.first < b.first;
  });
  return sorted;
}

std::uint64_t GpuRows::kernel_total() const {
  std::uint64_t total = other_kernels_.total;
  for (const auto& [name, timed] : kernels_) total += timed.total;
  return total;
}

GpuGraphs GpuRows::graphs() const {
  GpuGraphs sums = graph_sums_;
  for (const auto& [key, graph] : graphs_) {
    if (graph.nodes == 0) continue;
    sums.launches_counted += graph.launches;
    sums.hidden_nodes += graph.launches * graph.nodes;
  }
  return sums;
}

}  // namespace dft::tools
