// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "read/hash_table.h"
#include "tools/args_reader.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/gpu_report.h"
#include "tools/report.h"

namespace dft::tools {
namespace {

// One process as its file tells it; a file of the original may hold several.
struct Process {
  std::string file;
  std::int64_t pid = 0;
  std::string exec_hash, cmd_hash, host_hash, cwd_hash, version, rank, start_args;
  std::string host;  // the first versions wrote it plainly
  std::uint64_t events = 0;
  std::uint64_t first_ns = ~std::uint64_t{0};
  std::uint64_t last_ns = 0;
  bool ended = false;
  std::set<std::int64_t> threads;
};

class Info : public Report {
 public:
  explicit Info(const Selection& selection) : Report(selection) {}
  std::vector<Process> processes;
  std::vector<read::FileReport> files;
  std::map<std::pair<int, std::string>, std::uint64_t> layers;  // (type, cat) -> events
  read::HashTable names;
  GpuRows gpu;
  std::uint64_t metadata = 0;
  std::uint64_t first_ns = ~std::uint64_t{0};
  std::uint64_t last_ns = 0;

  std::string host(const Process& process) const {
    return process.host_hash.empty() ? process.host : name('H', process.host_hash);
  }
  std::string name(char kind, const std::string& hash) const {
    const std::string* found = names.find(kind, hash);
    return found != nullptr ? *found : hash.empty() ? "" : "[" + hash + "]";
  }

 private:
  Process& process(const read::Block& block, const read::Event& event) {
    const std::string& file = traces().files()[block.file];
    if (last_ != nullptr && last_->pid == event.pid && last_->file == file) return *last_;
    for (std::size_t i = first_of_file_; i < processes.size(); ++i) {
      if (processes[i].pid == event.pid && processes[i].file == file) return *(last_ = &processes[i]);
    }
    processes.emplace_back();
    processes.back().file = file;
    processes.back().pid = event.pid;
    return *(last_ = &processes.back());
  }

  void every_event(const read::Block& block, const read::Event& event) override {
    if (event.phase == model::Phase::kMetadata) gpu.add_metadata(block, event);
  }

  bool event(const read::Block& block, const read::Event& event) override {
    Process& owner = process(block, event);
    if (!event.hhash.empty() && owner.host_hash.empty()) owner.host_hash = event.hhash;
    if (owner.events == 0 && owner.host_hash.empty()) owner.host = find_arg(event.args, "hostname").value_or("");
    if (event.phase == model::Phase::kMetadata) {
      ++metadata;
      names.add(event);
      if (event.name == model::kProcessRecord && event.arg_name == "rank") owner.rank = event.arg_value;
      return true;
    }
    if (event.phase == model::Phase::kComplete) gpu.add(block, event);
    ++owner.events;
    ++layers[{event.type, std::string(event.cat)}];
    if (owner.threads.size() < kMostThreads) owner.threads.insert(event.tid);
    owner.first_ns = std::min(owner.first_ns, event.ts * block.unit_ns);
    owner.last_ns = std::max(owner.last_ns, event.end() * block.unit_ns);
    first_ns = std::min(first_ns, owner.first_ns);
    last_ns = std::max(last_ns, owner.last_ns);
    if (event.cat == model::kCategoryDftracer && event.name == "start") take_start(owner, event);
    if (event.cat == model::kCategoryDftracer && event.name == "end") owner.ended = true;
    return true;
  }

  static void take_start(Process& owner, const read::Event& event) {
    owner.ended = false;
    owner.start_args = event.args;
    owner.exec_hash = find_arg(event.args, "exec_hash").value_or("");
    owner.cmd_hash = find_arg(event.args, "cmd_hash").value_or("");
    owner.cwd_hash = find_arg(event.args, "cwd").value_or("");
    owner.version = find_arg(event.args, "version").value_or("");
  }

  void file_end(const read::FileReport& report) override {
    files.push_back(report);
    gpu.end_file();
    first_of_file_ = processes.size();
    last_ = nullptr;
  }

  static constexpr std::size_t kMostThreads = 100'000;
  Process* last_ = nullptr;
  std::size_t first_of_file_ = 0;
};

constexpr std::size_t kTopKernels = 5;

// What the start event says about how it was recorded.
constexpr const char* kStartKeys[] = {"clock", "compressor", "time_metric", "anchor_ns", "ticks_per_ns", "init"};

void print_processes(const Info& info, Output& out) {
  Table table({"pid", "exec", "host", "rank", "threads", "events", "begins", "lasts", "end", "file"}, 4);
  for (const Process& process : info.processes) {
    const bool timed = process.events != 0;
    table.add({std::to_string(process.pid), info.name('S', process.exec_hash), info.host(process), process.rank,
               human_count(process.threads.size()), human_count(process.events),
               timed ? "+" + human_time(static_cast<double>(process.first_ns - info.first_ns)) : "",
               timed ? human_time(static_cast<double>(process.last_ns - process.first_ns)) : "",
               process.ended ? "yes" : "NO", process.file});
  }
  table.print(out);
}

void print_text(const Info& info, Output& out) {
  info.losses().print_text(out);
  std::uint64_t disk = 0, text = 0, events = 0, problems = 0;
  for (const auto& file : info.files) {
    disk += file.disk_bytes;
    text += file.text_bytes;
    problems += file.problems;
  }
  for (const auto& [layer, count] : info.layers) events += count;
  if (problems != 0) out << "DAMAGED: " << counted(problems, "problem") << " while reading\n";
  out << "files: " << human_count(info.files.size()) << ", " << human_bytes(static_cast<double>(disk)) << " on disk, "
      << human_bytes(static_cast<double>(text)) << " of text\n";
  out << "events: " << human_count(events) << " and " << counted(info.metadata, "metadata record") << "\n";
  if (events != 0) {
    out << "time: " << wall_time(info.first_ns) << " to " << wall_time(info.last_ns) << " ("
        << human_time(static_cast<double>(info.last_ns - info.first_ns)) << ")\n";
  }
  std::set<std::string> formats;
  for (const auto& file : info.files) formats.insert(std::string(read::generation_name(file.generation)));
  out << "format:";
  for (const auto& format : formats) out << " " << format;
  out << "\n";
  std::set<std::string> recorders;
  for (const Process& process : info.processes) {
    std::string text_of_one = process.version.empty() ? "" : "version " + process.version;
    for (const char* key : kStartKeys) {
      if (const auto value = find_arg(process.start_args, key)) text_of_one += std::string(", ") + key + " " + *value;
    }
    if (!text_of_one.empty() && recorders.size() < 5) recorders.insert(text_of_one);
  }
  for (const auto& recorder : recorders) out << "recorded by: " << recorder << "\n";
  for (const Process& process : info.processes) {
    if (const std::string command = info.name('S', process.cmd_hash); !command.empty()) {
      out << "command: " << command << (info.processes.size() > 1 ? " (the first of the processes)\n" : "\n");
      break;
    }
  }
  out << "\n";
  Table layers({"type", "cat", "events"}, 2);
  for (const auto& [layer, count] : info.layers) {
    layers.add(
        {layer.first >= model::kLayerCount ? std::to_string(layer.first) : std::string(model::layer_name(layer.first)),
         layer.second, human_count(count)});
  }
  layers.print(out);
  out << "\n";
  print_processes(info, out);
  if (info.gpu.any()) out << "\n";
  print_gpu_text(info.gpu, kTopKernels, out);
}

void print_process_json(const Info& info, const Process& process, encode::JsonWriter& json) {
  json.begin_object().key("file").string(process.file).key("pid").number(process.pid);
  json.key("exec").string(info.name('S', process.exec_hash)).key("cmd").string(info.name('S', process.cmd_hash));
  json.key("host").string(info.host(process)).key("cwd").string(info.name('F', process.cwd_hash));
  json.key("rank").string(process.rank).key("version").string(process.version);
  json.key("threads").number(std::uint64_t{process.threads.size()}).key("events").number(process.events);
  if (process.events != 0) json.key("first_ns").number(process.first_ns).key("last_ns").number(process.last_ns);
  json.key("ended").raw(json_bool(process.ended)).key("start");
  if (process.start_args.empty()) {
    json.begin_object().end_object();
  } else {
    json.raw(process.start_args);
  }
  json.end_object();
}

void print_json(const Info& info, Output& out) {
  begin_json(out, "info");
  auto& json = out.json();
  info.losses().print_json(out);
  json.key("rows").begin_array();
  for (const Process& process : info.processes) print_process_json(info, process, json);
  json.end_array().key("files").begin_array();
  for (const auto& file : info.files) {
    json.begin_object().key("file").string(info.traces().files()[file.file]);
    json.key("format").string(read::generation_name(file.generation)).key("gzip").raw(json_bool(file.gzip));
    json.key("disk_bytes").number(file.disk_bytes).key("text_bytes").number(file.text_bytes);
    json.key("lines").number(file.lines).key("problems").number(file.problems).key("unit_ns").number(file.unit_ns);
    json.end_object();
  }
  json.end_array().key("layers").begin_array();
  for (const auto& [layer, count] : info.layers) {
    json.begin_object().key("type").number(layer.first).key("name").string(model::layer_name(layer.first));
    json.key("cat").string(layer.second).key("events").number(count).end_object();
  }
  json.end_array().key("metadata_records").number(info.metadata);
  if (info.last_ns != 0) json.key("first_ns").number(info.first_ns).key("last_ns").number(info.last_ns);
  if (info.gpu.any()) print_gpu_json(info.gpu, kTopKernels, out);
  end_json(out);
}

int info(const Selection& selection) {
  Info report(selection);
  if (const int status = report.read(false, true); status != kExitGood) return status;
  report.gpu.finish();
  Output out;
  if (selection.json) {
    print_json(report, out);
  } else {
    print_text(report, out);
  }
  if (report.processes.empty()) message("no record was found that passes the filters");
  return report.processes.empty() || report.damaged() ? kExitDamaged : kExitGood;
}

}  // namespace

void add_info(CommandLine& line) {
  const auto selection = std::make_shared<Selection>();
  Command& command = line.add("info", "Losses, processes, time range, layers, how it was recorded",
                              [selection] { return info(*selection); });
  add_inputs(command, *selection);
  add_filters(command, *selection);
}

}  // namespace dft::tools
