// SPDX-License-Identifier: MIT
#include <cinttypes>
#include <cstdio>
#include <memory>

#include "tools/args_reader.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/report.h"

namespace dft::tools {
namespace {

struct CatOptions {
  Selection selection;
  bool raw = false;
  bool metadata = false;
};

std::string_view phase_text(model::Phase phase) {
  switch (phase) {
    case model::Phase::kComplete: return "";
    case model::Phase::kCounter: return "counter ";
    case model::Phase::kAggregated: return "aggregated ";
    case model::Phase::kMetadata: return "metadata ";
    case model::Phase::kUnknown: return "unknown ";
  }
  return "unknown ";
}

char hash_kind(std::string_view key) {
  if (key == "fhash" || key == "cwd") return 'F';
  if (key == "hhash") return 'H';
  if (key == "exec_hash" || key == "cmd_hash") return 'S';
  return key.size() > 5 && key.substr(key.size() - 5) == "_hash" ? '?' : '\0';
}

class Cat : public Report {
 public:
  explicit Cat(const CatOptions& options) : Report(options.selection), options_(options) {}
  std::uint64_t printed() const { return printed_; }

 private:
  bool event(const read::Block& block, const read::Event& event) override {
    ++printed_;
    if (options_.raw) {
      out_ << event.raw << "\n";
    } else if (options_.selection.json) {
      print_json(block, event);
    } else {
      print_text(block, event);
    }
    return out_.flush_some();
  }

  const std::string* resolve(std::string_view key, std::string_view hash) const {
    const char kind = hash_kind(key);
    return kind == '\0' ? nullptr : hashes().find(kind, hash);
  }

  // seconds since the first event shown, pid/tid, duration, layer, category, name, args
  void print_text(const read::Block& block, const read::Event& event) {
    const std::uint64_t ns = event.ts * block.unit_ns;
    const bool timed = event.phase != model::Phase::kMetadata;
    if (timed && zero_ns_ == 0) zero_ns_ = start_ns() != 0 ? start_ns() : ns;
    char head[160];
    const double seconds = timed ? static_cast<double>(static_cast<std::int64_t>(ns - zero_ns_)) / 1e9 : 0;
    std::snprintf(head, sizeof head, "%14.6f %8" PRId64 "/%-8" PRId64 " ", seconds, event.pid, event.tid);
    out_ << head;
    const std::string dur =
        event.phase == model::Phase::kComplete ? human_time(static_cast<double>(event.dur * block.unit_ns)) : "-";
    out_ << std::string(dur.size() < 11 ? 11 - dur.size() : 0, ' ') << dur << "  ";
    out_ << phase_text(event.phase) << model::layer_name(event.type) << "/" << event.cat << " " << event.name;
    for_each_arg(event.args, [&](std::string_view key, const read::Value& value, std::string_view text) {
      if (key == "hhash") return;
      const std::string* name = resolve(key, text);
      out_ << " " << key << "=";
      if (name != nullptr) {
        out_ << *name;
      } else if (value.type == read::ValueType::kString) {
        encode::append_json_string(text, out_.buffer());
      } else {
        out_ << text;
      }
    });
    out_ << "\n";
  }

  void print_json(const read::Block& block, const read::Event& event) {
    line_.clear();
    encode::JsonWriter json(line_);
    json.begin_object().key("file").string(traces().files()[block.file]).key("line").number(block.line_of(event));
    if (event.has_id) json.key("id").number(event.id);
    json.key("name").string(event.name).key("cat").string(event.cat).key("type").string(model::layer_name(event.type));
    json.key("type_number").number(event.type).key("ph").number(static_cast<int>(event.phase));
    json.key("pid").number(event.pid).key("tid").number(event.tid);
    if (event.phase != model::Phase::kMetadata) json.key("ts_ns").number(event.ts * block.unit_ns);
    if (event.phase == model::Phase::kComplete) json.key("dur_ns").number(event.dur * block.unit_ns);
    if (!event.args.empty()) {
      json.key("args").begin_object();
      for_each_arg(event.args, [&](std::string_view key, const read::Value& value, std::string_view text) {
        const std::string* name = resolve(key, text);
        json.key(key);
        if (name != nullptr || value.type == read::ValueType::kString) {
          json.string(name != nullptr ? std::string_view(*name) : text);
        } else {
          json.raw(value.text);
        }
      });
      json.end_object();
    }
    json.end_object();
    out_ << line_.view() << "\n";
  }

  const CatOptions& options_;
  Output out_;
  base::Buffer line_;
  std::uint64_t zero_ns_ = 0;
  std::uint64_t printed_ = 0;
};

int cat(const CatOptions& options) {
  Cat report(options);
  if (const int status = report.read(!options.raw, options.metadata); status != kExitGood) return status;
  if (report.printed() == 0) message("no event was found that passes the filters");
  return report.printed() == 0 || report.damaged() ? kExitDamaged : kExitGood;
}

}  // namespace

void add_cat(CommandLine& line) {
  const auto options = std::make_shared<CatOptions>();
  Command& command = line.add("cat", "Print events, one a line, with file and host names in place of hashes",
                              [options] { return cat(*options); });
  add_inputs(command, options->selection);
  command.describe("--json", "Print one JSON object per event")
      .flag("--raw", options->raw, "Print the lines as they stand in the trace")
      .excludes("--raw", "--json")
      .flag("--metadata", options->metadata, "Print metadata records too");
  add_filters(command, options->selection);
}

}  // namespace dft::tools
