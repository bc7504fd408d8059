// SPDX-License-Identifier: MIT
#include "tools/missing.h"

#include <algorithm>
#include <charconv>

#include "tools/args_reader.h"
#include "tools/output.h"
#include "tools/time_text.h"

namespace dft::tools {
namespace {

// Events lost for these causes never got an id, so they leave no gap that could be explained by them.
constexpr std::string_view kBeforeNumbering[] = {"buffer_full",     "signal_nesting",  "undecodable", "gpu_dropped",
                                                 "gpu_undecodable", "gpu_unavailable", "api_quiet"};

bool leaves_a_gap(std::string_view cause) {
  return std::find(std::begin(kBeforeNumbering), std::end(kBeforeNumbering), cause) == std::end(kBeforeNumbering);
}

}  // namespace

void Missing::see_loss(std::string_view args) {
  Cause& cause = causes_[find_arg(args, "cause").value_or("unknown")];
  const auto count = find_number(args, "count");
  cause.in_records += count.value_or(0);
  cause.unknown |= !count;
}

void Missing::see_end(std::string_view args) {
  const auto lost = find_arg(args, "lost");
  if (!lost) return;
  for_each_arg(*lost, [&](std::string_view key, const read::Value&, std::string_view text) {
    std::uint64_t count = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), count).ec == std::errc()) {
      causes_[std::string(key)].in_end = count;
    }
  });
}

std::uint64_t Missing::unexplained(std::uint64_t numbered, std::uint64_t there) const {
  std::uint64_t explained = before_start_;
  for (const auto& [name, cause] : causes_) {
    if (!leaves_a_gap(name)) continue;
    if (cause.unknown) return 0;
    explained += std::max(cause.in_records, cause.in_end);
  }
  return numbered > there + explained ? numbered - there - explained : 0;
}

std::optional<Finding> Missing::judge(std::uint64_t numbered, std::uint64_t there, std::string_view who_tells) const {
  if (numbered == there) return std::nullopt;
  Finding finding;
  finding.kind = "num_events";
  std::uint64_t lost = 0;
  bool any_number = false;
  std::string causes;
  for (const auto& [name, cause] : causes_) {
    const std::uint64_t count = std::max(cause.in_records, cause.in_end);
    if (!leaves_a_gap(name) || (count == 0 && !cause.unknown)) continue;
    lost += count;
    any_number |= cause.unknown;
    causes += (causes.empty() ? ": " : ", ") + name + (count != 0 ? " " + human_count(count) : "");
  }
  const std::uint64_t missing = numbered > there ? numbered - there : 0;
  if (missing != 0 && (any_number || missing <= lost + before_start_)) {
    // Losses count what the program recorded; each lost block of start-up records had a `start` besides.
    if (before_start_ != 0 && missing > lost) {
      causes += (causes.empty() ? ": `start` " : ", `start` ") + human_count(missing - lost);
    }
    finding.reason = human_count(missing) + (missing == 1 ? " event is" : " events are") + " missing" + causes;
    finding.warning = true;
    return finding;
  }
  finding.reason =
      std::string(who_tells) + " of " + counted(numbered, "event") + " but " + std::to_string(there) + " are there";
  if (!causes.empty()) finding.reason += ", which is more than the losses explain" + causes;
  return finding;
}

}  // namespace dft::tools
