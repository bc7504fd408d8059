// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>
#include <memory>

#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/gpu_report.h"
#include "tools/report.h"
#include "tools/summary_rows.h"
#include "tools/untimed_rows.h"

namespace dft::tools {
namespace {

struct SummaryOptions {
  Selection selection;
  bool csv = false;
  bool gpu = false;
  std::string sort = "total";
  std::uint64_t top = 0;
  std::size_t kernels() const { return top == 0 ? kTopKernels : static_cast<std::size_t>(top); }
  static constexpr std::size_t kTopKernels = 20;
};

class Summary : public Report {
 public:
  explicit Summary(const Selection& selection) : Report(selection) {}
  SummaryRows rows;
  UntimedRows untimed;
  GpuRows gpu;

 private:
  void every_event(const read::Block& block, const read::Event& event) override {
    if (event.phase != model::Phase::kMetadata) return;
    gpu.add_metadata(block, event);
    rows.add_metadata(event);
  }
  void file_end(const read::FileReport&) override { gpu.end_file(); }
  bool event(const read::Block& block, const read::Event& event) override {
    if (event.phase == model::Phase::kAggregated || event.phase == model::Phase::kCounter) untimed.add(event);
    const bool life_cycle = event.cat == model::kCategoryDftracer && (event.name == "start" || event.name == "end");
    if (event.phase == model::Phase::kComplete && !life_cycle) {
      rows.add(event, block.unit_ns);
      gpu.add(block, event);
    }
    return true;
  }
};

double us(std::uint64_t ns) { return static_cast<double>(ns) / 1e3; }
double mean_ns(const SummaryRow& row) { return static_cast<double>(row.total_ns) / static_cast<double>(row.count); }
std::uint64_t p50(const SummaryRow& row) {
  return std::clamp(row.durations.at(0.50, row.step_ns), row.min_ns, row.max_ns);
}
std::uint64_t p99(const SummaryRow& row) {
  return std::clamp(row.durations.at(0.99, row.step_ns), row.min_ns, row.max_ns);
}
// Bytes per second of the summed time of the calls; 0 when that time is 0.
double bandwidth(const SummaryRow& row) {
  return row.total_ns == 0 ? 0 : static_cast<double>(row.bytes) / (static_cast<double>(row.total_ns) / 1e9);
}
std::string layer_text(int type) {
  return type >= model::kLayerCount ? std::to_string(type) : std::string(model::layer_name(type));
}

using Sorted = std::vector<const SummaryRow*>;
Sorted sorted(const SummaryRows& rows, const SummaryOptions& options) {
  using Value = std::function<double(const SummaryRow&)>;
  static const std::pair<const char*, Value> kKeys[] = {
      {"total", [](const SummaryRow& row) { return static_cast<double>(row.total_ns); }},
      {"self", [](const SummaryRow& row) { return static_cast<double>(row.self_ns); }},
      {"count", [](const SummaryRow& row) { return static_cast<double>(row.count); }},
      {"mean", mean_ns},
      {"max", [](const SummaryRow& row) { return static_cast<double>(row.max_ns); }},
      {"p99", [](const SummaryRow& row) { return static_cast<double>(p99(row)); }},
      {"bytes", [](const SummaryRow& row) { return static_cast<double>(row.bytes); }},
      {"busy", [](const SummaryRow& row) { return row.busy ? static_cast<double>(row.busy->length()) : 0; }}};
  std::vector<std::pair<double, const SummaryRow*>> ranked;
  for (const SummaryRow& row : rows.rows()) {
    double rank = 0;
    for (const auto& [name, value] : kKeys) rank = name == options.sort ? value(row) : rank;
    ranked.emplace_back(rank, &row);
  }
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first > b.first;
    return std::tie(a.second->type, a.second->cat, a.second->name) <
           std::tie(b.second->type, b.second->cat, b.second->name);
  });
  Sorted result;
  for (const auto& [rank, row] : ranked) result.push_back(row);
  if (options.top != 0 && result.size() > options.top) result.resize(options.top);
  return result;
}

std::vector<std::string> notes_of(const Summary& summary) {
  std::vector<std::string> notes;
  const SummaryRows& rows = summary.rows;
  if (rows.without_args() != 0) {
    notes.push_back(counted(rows.without_args(), "I/O event") +
                    " without args: sizes and files were not recorded. Set DFTRACER_INC_METADATA=1 to record them");
  }
  if (rows.estimated_self() != 0)
    notes.push_back("self time of " + counted(rows.estimated_self(), "event") + " is an estimate");
  if (rows.unordered() != 0) {
    notes.push_back(counted(rows.unordered(), "event") +
                    " not in the order of their ends: their children count as their own time");
  }
  return notes;
}

void print_untimed(const UntimedRows& untimed, Output& out) {
  if (untimed.rows().empty()) return;
  Table table({"type", "cat", "name", "without times", "records", "events"}, 4);
  for (const auto& [key, counts] : untimed.rows()) {
    table.add({layer_text(key.type), key.cat, key.name, std::string(key.kind()), human_count(counts.records),
               counts.events != 0 ? human_count(counts.events) : ""});
  }
  out << "\n";
  table.print(out);
}

void print_table(const Summary& summary, const Sorted& rows, std::size_t all, const SummaryOptions& options) {
  Output out;
  summary.losses().print_text(out);
  for (const auto& note : notes_of(summary)) out << "note: " << note << "\n";
  Table table({"type", "cat", "name", "count", "total (sum)", "self", "min", "mean", "p50", "p99", "max", "bytes",
               "bandwidth", "busy"},
              3);
  for (const SummaryRow* row : rows) {
    const auto time = [](std::uint64_t ns) { return human_time(static_cast<double>(ns)); };
    table.add({layer_text(row->type), row->cat, row->name, human_count(row->count), time(row->total_ns),
               time(row->self_ns), time(row->min_ns), human_time(mean_ns(*row)), time(p50(*row)), time(p99(*row)),
               time(row->max_ns), row->has_bytes ? human_bytes(static_cast<double>(row->bytes)) : "",
               row->has_bytes && row->total_ns != 0 ? human_bytes(bandwidth(*row)) + "/s" : "",
               row->busy ? time(row->busy->length()) : ""});
  }
  if (!rows.empty()) table.print(out);
  if (rows.size() < all) out << counted(all - rows.size(), "more row") << " not shown\n";
  if (!summary.rows.lanes().empty()) {
    Table lanes({"GPU lane", "pid", "tid", "events", "busy"}, 1);
    for (const LaneRow& lane : summary.rows.lanes()) {
      lanes.add({summary.rows.lane_name(lane), std::to_string(lane.pid), std::to_string(lane.tid),
                 human_count(lane.count), human_time(static_cast<double>(lane.busy.length()))});
    }
    out << "\n";
    lanes.print(out);
  }
  if (summary.gpu.any()) out << "\n";
  print_gpu_text(summary.gpu, options.kernels(), out);
  print_untimed(summary.untimed, out);
}

void print_gpu_only(const Summary& summary, const SummaryOptions& options) {
  Output out;
  summary.losses().print_text(out);
  print_gpu_text(summary.gpu, options.kernels(), out);
}

void print_json(const Summary& summary, const Sorted& rows, const SummaryOptions& options) {
  Output out;
  begin_json(out, "summary");
  auto& json = out.json();
  summary.losses().print_json(out);
  json.key("notes").begin_array();
  for (const auto& note : notes_of(summary)) json.string(note);
  json.end_array().key("rows").begin_array();
  for (const SummaryRow* row : rows) {
    json.begin_object()
        .key("type")
        .string(layer_text(row->type))
        .key("cat")
        .string(row->cat)
        .key("name")
        .string(row->name);
    json.key("count")
        .number(row->count)
        .key("total_us")
        .number(us(row->total_ns))
        .key("self_us")
        .number(us(row->self_ns));
    json.key("min_us").number(us(row->min_ns)).key("mean_us").number(mean_ns(*row) / 1e3);
    json.key("p50_us").number(us(p50(*row))).key("p99_us").number(us(p99(*row))).key("max_us").number(us(row->max_ns));
    if (row->has_bytes) json.key("bytes").number(row->bytes).key("bandwidth").number(bandwidth(*row));
    if (row->busy) json.key("busy_us").number(us(row->busy->length()));
    json.end_object();
    out.flush_some();
  }
  json.end_array().key("lanes").begin_array();
  for (const LaneRow& lane : summary.rows.lanes()) {
    json.begin_object().key("pid").number(lane.pid).key("tid").number(lane.tid).key("count").number(lane.count);
    json.key("busy_us").number(us(lane.busy.length()));
    if (const std::string name = summary.rows.lane_name(lane); !name.empty()) json.key("name").string(name);
    json.end_object();
  }
  json.end_array().key("untimed").begin_array();
  for (const auto& [key, counts] : summary.untimed.rows()) {
    json.begin_object().key("kind").string(key.kind()).key("type").string(layer_text(key.type));
    json.key("cat").string(key.cat).key("name").string(key.name).key("records").number(counts.records);
    if (counts.events != 0) json.key("events").number(counts.events);
    json.end_object();
  }
  json.end_array();
  if (summary.gpu.any() || options.gpu) print_gpu_json(summary.gpu, options.kernels(), out);
  end_json(out);
}

void print_csv(const Sorted& rows) {
  Output out;
  out << "type,cat,name,count,total_us,self_us,min_us,mean_us,p50_us,p99_us,max_us,bytes,bandwidth,busy_us\n";
  for (const SummaryRow* row : rows) {
    out << csv_field(layer_text(row->type)) << "," << csv_field(row->cat) << "," << csv_field(row->name) << ","
        << std::to_string(row->count);
    for (const double value : {us(row->total_ns), us(row->self_ns), us(row->min_ns), mean_ns(*row) / 1e3, us(p50(*row)),
                               us(p99(*row)), us(row->max_ns)}) {
      out << "," << number_text(value);
    }
    out << "," << (row->has_bytes ? std::to_string(row->bytes) : "") << ","
        << (row->has_bytes ? number_text(bandwidth(*row)) : "") << ","
        << (row->busy ? number_text(us(row->busy->length())) : "") << "\n";
  }
}

void print_all(const Summary& summary, const Sorted& rows, const SummaryOptions& options) {
  if (options.selection.json) {
    print_json(summary, rows, options);
  } else if (options.csv && options.gpu) {
    Output out;
    print_gpu_csv(summary.gpu, options.kernels(), out);
  } else if (options.csv) {
    print_csv(rows);
  } else if (options.gpu) {
    print_gpu_only(summary, options);
  } else {
    print_table(summary, rows, summary.rows.rows().size(), options);
  }
}

int summarise(const SummaryOptions& options) {
  Summary summary(options.selection);
  if (const int status = summary.read(false, false); status != kExitGood) return status;
  summary.gpu.finish();
  const Sorted rows = sorted(summary.rows, options);
  print_all(summary, rows, options);
  const bool empty = rows.empty() && summary.untimed.rows().empty();
  if (empty) message("nothing to summarise: no event was found that passes the filters");
  return empty || summary.damaged() ? kExitDamaged : kExitGood;
}

}  // namespace

void add_summary(CommandLine& line) {
  const auto options = std::make_shared<SummaryOptions>();
  Command& command =
      line.add("summary", "Counts and times per layer, category and name", [options] { return summarise(*options); });
  add_inputs(command, options->selection);
  command.flag("--csv", options->csv, "Print comma-separated values")
      .excludes("--csv", "--json")
      .flag("--gpu", options->gpu, "Only what concerns GPUs; with --csv its tables in place of the rows")
      .text("--sort", options->sort, "KEY", "Rows in descending order of this",
            {"total", "self", "count", "mean", "max", "p99", "bytes", "busy"})
      .number("--top", options->top, 1, 1'000'000'000, "Only so many rows");
  add_filters(command, options->selection);
}

}  // namespace dft::tools
