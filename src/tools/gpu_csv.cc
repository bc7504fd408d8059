// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>

#include "tools/gpu_figures.h"
#include "tools/gpu_report.h"

namespace dft::tools {
namespace {

// One line: the columns that a part has, the others empty.
class CsvLine {
 public:
  CsvLine(std::string_view part, const GpuDevice* device, std::string_view name)
      : text_(csv_field(part) + "," + (device != nullptr ? std::to_string(device->pid) : "") + "," +
              (device != nullptr ? device_number(*device) : "") + "," + csv_field(name)) {}
  CsvLine& number(std::optional<double> value) {
    text_ += ',';
    if (value) text_ += number_text(*value);
    return *this;
  }
  CsvLine& none(unsigned columns) {
    text_.append(columns, ',');
    return *this;
  }
  void print(Output& out) { out << text_ << "\n"; }

 private:
  std::string text_;
};

void timed_csv(std::string_view part, std::string_view name, const GpuTimed& timed, std::optional<double> part_share,
               bool copy, Output& out) {
  CsvLine line(part, nullptr, name);
  line.number(static_cast<double>(timed.count)).number(us(timed.total)).number(us(timed.least));
  line.number(timed.count == 0 ? 0 : us(timed.total) / static_cast<double>(timed.count)).none(2).number(us(timed.most));
  if (copy) {
    line.number(static_cast<double>(timed.bytes)).number(bandwidth(timed));
  } else {
    line.none(2);
  }
  line.none(3).number(part_share).print(out);
}

}  // namespace

void print_gpu_csv(const GpuRows& gpu, std::size_t top, Output& out) {
  out << "part,pid,device_id,name,count,total_us,min_us,mean_us,p50_us,p99_us,max_us,bytes,bandwidth,span_us,busy_us,"
         "idle_us,share\n";
  for (const GpuDevice& device : gpu.devices()) {
    CsvLine line("device", &device, device.name);
    line.number(static_cast<double>(device.kernels + device.copies + device.graphs)).none(8);
    line.number(us(device.span())).number(us(device.busy.length())).number(us(device.idle()));
    line.number(share(device.idle(), device.span())).print(out);
  }
  for (const GpuDevice& device : gpu.devices()) {
    for (const bool graph : {false, true}) {
      const Spread& spread = graph ? device.graph_latency : device.kernel_latency;
      if (spread.count == 0) continue;
      CsvLine line("launch_latency", &device, graph ? "graph" : "kernel");
      line.number(static_cast<double>(spread.count)).number(us(spread.total)).number(us(spread.least));
      line.number(spread.mean() / 1e3).number(us(spread.at(0.5))).number(us(spread.at(0.99))).number(us(spread.most));
      line.none(6).print(out);
    }
  }
  const auto kernels = gpu.kernels();
  const std::uint64_t total = gpu.kernel_total();
  for (std::size_t i = 0; i < std::min(top, kernels.size()); ++i) {
    timed_csv("kernel", kernels[i].first, *kernels[i].second, share(kernels[i].second->total, total), false, out);
  }
  for (const auto& [key, copy] : gpu.copies()) {
    timed_csv("copy", key.second.empty() ? key.first : key.first + " " + key.second, copy, std::nullopt, true, out);
  }
  for (const auto& [name, sync] : gpu.syncs()) timed_csv("sync", name, sync, std::nullopt, false, out);
}

}  // namespace dft::tools
