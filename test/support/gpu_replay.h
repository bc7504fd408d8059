// SPDX-License-Identifier: MIT
// Purpose: what the replay tests of both vendors share: records that come out, as lines of a trace.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/raw_io.h"
#include "encode/event_encoder.h"
#include "record/drained_records_for_test.h"
#include "sources/gpu/backend.h"

namespace dft::gpu {

// Lines of the trace, with a clock whose ticks are nanoseconds since `trace_start_ns`.
inline std::vector<std::string> lines_of(const record::DrainedRecords& drained, std::uint64_t trace_start_ns,
                                         model::TimeMetric metric) {
  static base::ClockMap clock;
  const base::ClockKnot knot{0, trace_start_ns, 1.0};
  clock.restore(&knot, 1);
  encode::EncoderOptions options;
  options.pid = 4242;
  options.time_metric = metric;
  std::memcpy(options.host_hash, "2a702c695247d487", 16);
  encode::EventEncoder encoder(record::recorder.definitions, clock, options);
  base::Buffer out;
  for (const record::CopiedRecord& record : drained.records) EXPECT_TRUE(encoder.encode(record.header(), 1, out));
  std::vector<std::string> lines;
  std::string_view text = out.view();
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

inline std::size_t count(const std::vector<std::string>& lines, const std::string& what) {
  std::size_t found = 0;
  for (const std::string& line : lines) found += line.find(what) != std::string::npos ? 1 : 0;
  return found;
}
inline std::string first(const std::vector<std::string>& lines, const std::string& what) {
  for (const std::string& line : lines) {
    if (line.find(what) != std::string::npos) return line;
  }
  return "";
}

struct Statuses final : StatusSink {
  std::vector<Status> all;
  std::vector<std::string> categories, holders;
  void status(const Status& status) override {
    all.push_back(status);
    categories.push_back(status.category != nullptr ? status.category : "");
    holders.push_back(status.holder != nullptr ? status.holder : "");
  }
};

// Line for line what the file has; DFT_UPDATE_GOLDEN=1 writes it anew.
inline void expect_lines(const std::vector<std::string>& lines, const std::string& path) {
  if (std::getenv("DFT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream out(path);
    for (const std::string& line : lines) out << line << '\n';
  }
  std::ifstream in(path);
  std::size_t at = 0;
  for (std::string line; std::getline(in, line); ++at) {
    ASSERT_LT(at, lines.size()) << path << " has more: " << line;
    EXPECT_EQ(lines[at], line) << path << ", line " << at + 1;
  }
  EXPECT_EQ(at, lines.size()) << path << " has fewer lines";
}

}  // namespace dft::gpu
