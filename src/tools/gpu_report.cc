// SPDX-License-Identifier: MIT
#include "tools/gpu_report.h"

#include <algorithm>
#include <cstdio>

#include "tools/gpu_figures.h"
#include "tools/time_text.h"

namespace dft::tools {
namespace {

// Up to here a kernel begins about as soon as its call allows: the device had nothing to do before.
constexpr std::uint64_t kSoonNs = 20'000;
constexpr double kMuchIdle = 0.2;

std::string time(std::uint64_t ns) { return human_time(static_cast<double>(ns)); }
std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", share * 100);
  return text;
}
std::uint64_t both_busy(const GpuDevice& device) {
  const std::uint64_t sum = device.kernel_busy.length() + device.copy_busy.length();
  return sum - std::min(sum, device.busy.length());
}

void add_idle_note(const GpuDevice& device, std::vector<std::string>& notes) {
  const double idle = share(device.idle(), device.span());
  const Spread& latency = device.kernel_latency.count != 0 ? device.kernel_latency : device.graph_latency;
  if (idle < kMuchIdle || latency.count == 0) return;
  const std::uint64_t usual = latency.at(0.5);
  notes.push_back("GPU " + device_number(device) + " of process " + std::to_string(device.pid) + " is idle " +
                  percent(idle) + " of the time, and its work begins " + time(usual) + " after the call (p50): " +
                  (usual <= kSoonNs
                       ? "it waits for the host to launch"
                       : "work is launched ahead; look at copies, synchronisation and the longest idle time"));
}

std::string graph_note(const GpuGraphs& graphs) {
  std::string text = counted(graphs.launches, "graph launch");
  if (graphs.launches != 1) text.insert(text.size() - 1, "e");
  text += graphs.launches == 1 ? " stands for " : " stand for ";
  if (graphs.launches_counted == 0) {
    text += "nodes whose number the trace does not tell";
  } else {
    text += counted(graphs.hidden_nodes, "hidden node");
    if (graphs.launches_counted < graphs.launches) {
      text += " and those of " + human_count(graphs.launches - graphs.launches_counted) + " launches more";
    }
  }
  return text + ". Set DFTRACER_CUDA_GRAPH=node to record each node";
}

void print_devices(const GpuRows& gpu, Output& out) {
  Table table({"GPU", "pid", "name", "kernels", "copies", "graphs", "span", "busy", "idle", "idle share", "kernel busy",
               "copy busy", "both", "longest idle"},
              3);
  for (const GpuDevice& device : gpu.devices()) {
    const bool worked = device.worked();
    table.add({device_number(device), std::to_string(device.pid), device.name, human_count(device.kernels),
               human_count(device.copies), human_count(device.graphs), worked ? time(device.span()) : "",
               time(device.busy.length()), worked ? time(device.idle()) : "",
               worked ? percent(share(device.idle(), device.span())) : "", time(device.kernel_busy.length()),
               time(device.copy_busy.length()), time(both_busy(device)),
               worked ? time(device.busy.longest_gap().length) : ""});
  }
  out << "\n";
  table.print(out);
}

void print_kernels(const GpuRows& gpu, std::size_t top, Output& out) {
  const auto kernels = gpu.kernels();
  if (kernels.empty()) return;
  const std::uint64_t total = gpu.kernel_total();
  Table table({"count", "total (sum)", "share", "mean", "max", "kernel"}, 0, true);
  const auto row = [&](std::string_view name, const GpuTimed& timed) {
    table.add({human_count(timed.count), time(timed.total), percent(share(timed.total, total)),
               human_time(static_cast<double>(timed.total) / static_cast<double>(timed.count)), time(timed.most),
               std::string(name)});
  };
  for (std::size_t i = 0; i < std::min(top, kernels.size()); ++i) row(kernels[i].first, *kernels[i].second);
  if (gpu.other_kernels().count != 0) row("(further names)", gpu.other_kernels());
  out << "\n";
  table.print(out);
  if (kernels.size() > top) out << counted(kernels.size() - top, "more kernel") << " not shown\n";
}

void print_copies(const GpuRows& gpu, Output& out) {
  Table table({"copies", "host memory", "count", "bytes", "total (sum)", "bandwidth", "max"}, 2);
  for (const auto& [key, copy] : gpu.copies()) {
    table.add({key.first, key.second, human_count(copy.count), human_bytes(static_cast<double>(copy.bytes)),
               time(copy.total), copy.total != 0 ? human_bytes(bandwidth(copy)) + "/s" : "", time(copy.most)});
  }
  if (table.empty()) return;
  out << "\n";
  table.print(out);
}

void print_latencies(const GpuRows& gpu, Output& out) {
  Table table({"call to work", "GPU", "pid", "count", "min", "mean", "p50", "p99", "max"}, 1);
  for (const GpuDevice& device : gpu.devices()) {
    for (const bool graph : {false, true}) {
      const Spread& spread = graph ? device.graph_latency : device.kernel_latency;
      if (spread.count == 0) continue;
      table.add({graph ? "graph launch" : "kernel launch", device_number(device), std::to_string(device.pid),
                 human_count(spread.count), time(spread.least), human_time(spread.mean()), time(spread.at(0.5)),
                 time(spread.at(0.99)), time(spread.most)});
    }
  }
  if (table.empty()) return;
  out << "\n";
  table.print(out);
}

void print_syncs(const GpuRows& gpu, Output& out) {
  Table table({"synchronisation", "count", "total (sum)", "mean", "max"}, 1);
  for (const auto& [name, sync] : gpu.syncs()) {
    table.add({name, human_count(sync.count), time(sync.total),
               human_time(static_cast<double>(sync.total) / static_cast<double>(sync.count)), time(sync.most)});
  }
  if (table.empty()) return;
  out << "\n";
  table.print(out);
}

void timed_json(const GpuTimed& timed, encode::JsonWriter& json) {
  json.key("count").number(timed.count).key("total_us").number(us(timed.total));
  json.key("min_us").number(us(timed.count == 0 && timed.total == 0 ? 0 : timed.least));
  json.key("mean_us").number(timed.count == 0 ? 0 : us(timed.total) / static_cast<double>(timed.count));
  json.key("max_us").number(us(timed.most));
}

void devices_json(const GpuRows& gpu, encode::JsonWriter& json) {
  json.key("devices").begin_array();
  for (const GpuDevice& device : gpu.devices()) {
    const IntervalUnion::Gap gap = device.busy.longest_gap();
    json.begin_object().key("pid").number(device.pid).key("device_id").number(device.id);
    json.key("name").string(device.name).key("uuid").string(device.uuid);
    json.key("kernels").number(device.kernels).key("copies").number(device.copies);
    json.key("graphs").number(device.graphs).key("span_us").number(us(device.span()));
    json.key("busy_us").number(us(device.busy.length())).key("idle_us").number(us(device.idle()));
    json.key("idle_share").number(share(device.idle(), device.span()));
    json.key("kernel_busy_us").number(us(device.kernel_busy.length()));
    json.key("copy_busy_us").number(us(device.copy_busy.length())).key("both_busy_us").number(us(both_busy(device)));
    json.key("longest_idle_us").number(us(gap.length)).key("longest_idle_ns").number(gap.begin);
    if (device.worked()) json.key("first_ns").number(device.first_ns).key("last_ns").number(device.last_ns);
    json.end_object();
  }
  json.end_array();
}

void latencies_json(const GpuRows& gpu, encode::JsonWriter& json) {
  json.key("launch_latency").begin_array();
  for (const GpuDevice& device : gpu.devices()) {
    for (const bool graph : {false, true}) {
      const Spread& spread = graph ? device.graph_latency : device.kernel_latency;
      if (spread.count == 0) continue;
      json.begin_object().key("work").string(graph ? "graph" : "kernel").key("pid").number(device.pid);
      json.key("device_id").number(device.id).key("count").number(spread.count).key("min_us").number(us(spread.least));
      json.key("mean_us").number(spread.mean() / 1e3).key("p50_us").number(us(spread.at(0.5)));
      json.key("p99_us").number(us(spread.at(0.99))).key("max_us").number(us(spread.most)).end_object();
    }
  }
  json.end_array().key("work_without_call").number(gpu.work_alone());
}

void names_json(const GpuRows& gpu, std::size_t top, encode::JsonWriter& json) {
  const auto kernels = gpu.kernels();
  const std::uint64_t total = gpu.kernel_total();
  json.key("kernel_names").number(std::uint64_t{kernels.size()}).key("kernels").begin_array();
  for (std::size_t i = 0; i < std::min(top, kernels.size()); ++i) {
    json.begin_object().key("name").string(kernels[i].first);
    timed_json(*kernels[i].second, json);
    json.key("share").number(share(kernels[i].second->total, total)).end_object();
  }
  json.end_array().key("other_kernels").number(gpu.other_kernels().count).key("copies").begin_array();
  for (const auto& [key, copy] : gpu.copies()) {
    json.begin_object().key("direction").string(key.first).key("host_memory").string(key.second);
    timed_json(copy, json);
    json.key("bytes").number(copy.bytes).key("bandwidth").number(bandwidth(copy)).end_object();
  }
  json.end_array().key("synchronisation").begin_array();
  for (const auto& [name, sync] : gpu.syncs()) {
    json.begin_object().key("name").string(name);
    timed_json(sync, json);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::vector<std::string> gpu_notes(const GpuRows& gpu) {
  std::vector<std::string> notes;
  for (const auto& [text, count] : gpu.status()) {
    notes.push_back("GPU events are not complete: " + text + (count > 1 ? ", " + counted(count, "time") : ""));
  }
  const GpuGraphs graphs = gpu.graphs();
  if (graphs.launches != 0) notes.push_back(graph_note(graphs));
  for (const GpuDevice& device : gpu.devices()) add_idle_note(device, notes);
  if (gpu.suspects() != 0) {
    notes.push_back(counted(gpu.suspects(), "GPU record") + " with times that cannot be (arg clock_suspect)");
  }
  if (gpu.calls() != 0 && gpu.work_alone() != 0) {
    notes.push_back(counted(gpu.work_alone(), "piece") + " of GPU work without " +
                    (gpu.work_alone() == 1 ? "its" : "their") + " call: not in the launch latency");
  }
  return notes;
}

void print_gpu_text(const GpuRows& gpu, std::size_t top, Output& out) {
  for (const auto& note : gpu_notes(gpu)) out << "note: " << note << "\n";
  if (!gpu.any()) return;
  if (gpu.worked()) print_devices(gpu, out);
  print_kernels(gpu, top, out);
  print_copies(gpu, out);
  print_latencies(gpu, out);
  print_syncs(gpu, out);
}

void print_gpu_json(const GpuRows& gpu, std::size_t top, Output& out) {
  auto& json = out.json();
  const GpuGraphs graphs = gpu.graphs();
  json.key("gpu").begin_object();
  json.key("notes").begin_array();
  for (const auto& note : gpu_notes(gpu)) json.string(note);
  json.end_array();
  devices_json(gpu, json);
  names_json(gpu, top, json);
  latencies_json(gpu, json);
  json.key("graphs").begin_object().key("launches").number(graphs.launches);
  json.key("launches_counted").number(graphs.launches_counted).key("hidden_nodes").number(graphs.hidden_nodes);
  json.key("nodes_recorded").number(graphs.nodes_seen).end_object();
  json.key("suspect_times").number(gpu.suspects()).end_object();
}

}  // namespace dft::tools
