// SPDX-License-Identifier: MIT
// Purpose: what the replay tests share: the stand-in's controls and the records that come out.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/raw_io.h"
#include "encode/event_encoder.h"
#include "record/drained_records_for_test.h"
#include "sources/gpu/cupti/backend.h"
#include "standin/standin.h"

namespace dft::gpu {

class Standin {
 public:
  Standin() : handle_(dlopen(DFT_STANDIN, RTLD_NOW)) {
    if (handle_ == nullptr) std::abort();
  }
  void configure(const std::string& words, const std::string& recording = "synthetic.cuptirec") const {
    const std::string all = words + " recording=" DFT_RECORDINGS "/" + recording;
    reinterpret_cast<standin::Configure>(dlsym(handle_, "dft_standin_configure"))(all.c_str());
  }
  standin::Counters counters() const {
    standin::Counters out{};
    reinterpret_cast<standin::Read>(dlsym(handle_, "dft_standin_counters"))(&out);
    return out;
  }
  void deliver_late() const { reinterpret_cast<standin::Late>(dlsym(handle_, "dft_standin_deliver_late"))(); }

 private:
  void* handle_;
};

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

}  // namespace dft::gpu
