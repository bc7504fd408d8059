// SPDX-License-Identifier: MIT
#include "tools/losses.h"

#include <algorithm>

#include "tools/args_reader.h"
#include "tools/time_text.h"

namespace dft::tools {

namespace {
constexpr std::size_t kMostChoice = 120;

// "runtime queries (cudaGetDevice, ...); DFTRACER_CUDA_API=all records them": what the trace lists in full.
std::string shortened(const std::string& detail) {
  if (detail.size() <= kMostChoice) return detail;
  const std::size_t cut = detail.rfind(' ', kMostChoice / 2);
  const std::size_t last = detail.rfind("; ");
  return detail.substr(0, cut) + " ..." + (last == std::string::npos || last < cut ? "" : detail.substr(last));
}
}  // namespace

bool Losses::any() const {
  const auto lost = [](const auto& cause) { return cause.first != kLeftOutByChoice; };
  return std::any_of(causes_.begin(), causes_.end(), lost) || !without_end_.empty();
}

void Losses::begin_file(const std::string& file) {
  file_ = file;
  started_ = ended_ = file_recovered_ = false;
}

void Losses::see(const read::Event& event) {
  if (event.phase == model::Phase::kComplete) {
    if (event.cat != model::kCategoryDftracer) return;
    if (event.name == "start") {
      // Our start-up records are written again when their block was lost; only others append to a file.
      const bool ours = find_arg(event.args, "build").has_value();
      if (started_ && !ended_ && !ours) without_end_.push_back(file_);
      started_ = true;
      ended_ = false;
    }
    ended_ |= event.name == "end";
    return;
  }
  if (event.phase != model::Phase::kMetadata || event.cat != model::kCategoryDftracer) return;
  if (event.name == model::kWait) {
    const std::uint64_t ns = find_number(event.args, "ns").value_or(0);
    ++waits_;
    waited_ns_ += ns;
    longest_wait_ns_ = std::max(longest_wait_ns_, ns);
  } else if (event.name == model::kLoss) {
    Cause& cause = causes_[find_arg(event.args, "cause").value_or("unknown")];
    const auto count = find_number(event.args, "count");
    ++cause.records;
    cause.count += count.value_or(0);
    cause.unknown |= !count;
    cause.bytes += find_number(event.args, "bytes").value_or(0);
    cause.detail = find_arg(event.args, "detail").value_or(cause.detail);
  } else if (event.name == "recovered") {
    ++recovered_;
    file_recovered_ = true;
  }
}

void Losses::end_file() {
  if (started_ && !ended_ && !file_recovered_) without_end_.push_back(file_);
}

void Losses::print_text(Output& out) const {
  for (const auto& [name, cause] : causes_) {
    if (name == kLeftOutByChoice) {
      out << "LEFT OUT: by choice, " << (cause.detail.empty() ? name : shortened(cause.detail)) << "\n";
      continue;
    }
    out << "LOST: "
        << (cause.count != 0 || !cause.unknown ? counted(cause.count, "event") : "an unknown number of events");
    if (cause.count != 0 && cause.unknown) out << " and more that could not be counted";
    if (cause.bytes != 0) out << ", " << human_bytes(static_cast<double>(cause.bytes));
    out << " (" << name << (cause.detail.empty() ? "" : ": " + cause.detail) << ")\n";
  }
  if (!without_end_.empty()) {
    out << "NO END: " << counted(without_end_.size(), "process record")
        << " without an end; the process died or still runs:";
    for (std::size_t i = 0; i < std::min<std::size_t>(without_end_.size(), 5); ++i) out << " " << without_end_[i];
    out << (without_end_.size() > 5 ? " ...\n" : "\n");
  }
  if (recovered_ != 0) out << "RECOVERED: " << counted(recovered_, "file") << " completed by `dftracer recover`\n";
  if (waits_ != 0) {
    out << "WAITED: application threads stopped " << counted(waits_, "time") << ", "
        << human_time(static_cast<double>(waited_ns_)) << " in all, "
        << human_time(static_cast<double>(longest_wait_ns_)) << " at most\n";
  }
}

void Losses::print_json(Output& out) const {
  auto& json = out.json();
  json.key("losses").begin_object().key("lost").begin_array();
  for (const auto& [name, cause] : causes_) {
    json.begin_object().key("cause").string(name).key("records").number(cause.records);
    json.key("count").number(cause.count).key("count_is_complete").raw(json_bool(!cause.unknown));
    json.key("bytes").number(cause.bytes).end_object();
  }
  json.end_array().key("without_end").begin_array();
  for (const auto& file : without_end_) json.string(file);
  json.end_array().key("recovered").number(recovered_);
  json.key("waits").number(waits_).key("waited_ns").number(waited_ns_).key("longest_wait_ns").number(longest_wait_ns_);
  json.end_object();
}

}  // namespace dft::tools
