// SPDX-License-Identifier: MIT
#include "sources/io/io_source.h"

#include "sources/io/io_state.h"
#include "sources/io/posix.gen.h"
#include "sources/io/stdio.gen.h"

namespace dft::io {

std::atomic<std::uint32_t> io_wanted{0};
__thread unsigned io_paused = 0;
std::atomic<bool> io_args{true};

FdTable fd_table;
PathFilter path_filter;
WorkingDirectory working_directory;
PathResolver path_resolver{fd_table, path_filter, working_directory};
MappingTable mapping_table;

bool start_io(const IoConfig& config) {
  stop_io();
  std::uint32_t categories = 0;
  if (config.posix) categories |= static_cast<std::uint32_t>(Category::kPosix);
  if (config.stdio) categories |= static_cast<std::uint32_t>(Category::kStdio);
  if (categories == 0) return true;
  if (!path_filter.configure(config.includes, config.excludes, config.trace_all, config.own_traces)) return false;
  path_filter.reset_counts();
  fd_table.start(path_filter);
  mapping_table.reset();
  working_directory.start();
  io_args.store(config.args, std::memory_order_relaxed);
  io_wanted.store(categories, std::memory_order_release);
  return true;
}

void stop_io() { io_wanted.store(0, std::memory_order_release); }
bool io_is_on() { return io_wanted.load(std::memory_order_relaxed) != 0; }
bool posix_is_on() {
  return (io_wanted.load(std::memory_order_relaxed) & static_cast<std::uint32_t>(Category::kPosix)) != 0;
}

void io_in_forked_child() {
  working_directory.start();
  path_filter.reset_counts();
}

void pause_io() { ++io_paused; }
void resume_io() { --io_paused; }

IoSummary io_summary() { return {path_filter.any_traced(), path_filter.filtered()}; }

BindingList posix_bindings() { return {dftracer_posix_bindings, std::size(dftracer_posix_bindings)}; }
BindingList stdio_bindings() { return {dftracer_stdio_bindings, std::size(dftracer_stdio_bindings)}; }

}  // namespace dft::io
