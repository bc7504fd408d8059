// SPDX-License-Identifier: MIT
#include "session/sources.h"

#include <string>
#include <vector>

#include "base/log.h"
#include "session/gpu.h"
#include "sources/io/io_source.h"

namespace dft::session {

namespace {

bool lists_are_given = false;  // there is something that the user may have got wrong

void add_pieces(std::string_view list, std::vector<std::string>& out) {
  while (!list.empty()) {
    const std::size_t end = list.find(':');
    if (end != 0) out.emplace_back(list.substr(0, end));
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  }
}

}  // namespace

void start_sources(const config::Options& config, std::string_view own_prefix, std::string_view data_dirs) {
  if (!config.io) return;
  std::vector<std::string> data;
  const bool only_of_call = !data_dirs.empty() && config::means_all_files(config.data_dirs);
  if (!only_of_call) data = config.data_dirs;
  add_pieces(data_dirs, data);
  const std::vector<std::string_view> includes(data.begin(), data.end());
  const std::vector<std::string_view> excludes(config.data_dirs_exclude.begin(), config.data_dirs_exclude.end());
  io::IoConfig io;
  io.posix = config.posix;
  io.stdio = config.stdio;
  io.args = config.metadata;
  io.trace_all = config::means_all_files(data);
  io.includes = {includes.data(), includes.size()};
  io.excludes = {excludes.data(), excludes.size()};
  io.own_traces = own_prefix;
  lists_are_given = !io.trace_all || !excludes.empty();
  if (!io::start_io(io)) base::LogLine() << "cannot trace I/O: out of memory: other events are traced";
}

void stop_sources() { io::stop_io(); }

void sources_in_child() {
  io::io_in_forked_child();
  gpu_in_child();
}

bool io_is_traced() { return io::io_is_on(); }

void tell_filtered() {
  const io::IoSummary summary = io::io_summary();
  if (!lists_are_given || summary.any_traced || summary.filtered == 0) return;
  base::LogLine() << "no file was traced: all " << summary.filtered
                  << " that the program opened lie outside DFTRACER_DATA_DIR or in DFTRACER_DATA_DIR_EXCLUDE";
}

void pause_sources_of_thread() { io::pause_io(); }

SourcesPaused::SourcesPaused() { io::pause_io(); }
SourcesPaused::~SourcesPaused() { io::resume_io(); }

}  // namespace dft::session
