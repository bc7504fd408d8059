// SPDX-License-Identifier: MIT
// Purpose: which paths are traced. Lists of directories to trace and to leave out; of all entries that are a path or
// one
//          of its parents, the longest decides (whole components: `/data` is no parent of `/database`).
// Threads: configure() by one thread at a time; everything else lock-free from any thread, signal handlers included.
// Invariants:
//   1. A path that equals or lies below no entry is traced exactly when everything is to be traced.
//   2. One path in both lists is left out. The user's lists outweigh the built-in exclusions of the same length.
//   3. Built in: /proc, /sys and /dev are left out, but not /dev/shm; so are shared objects (`x.so`, `x.so.1.2`) unless
//      the list names the very file, and the traces of this run: names that begin with their prefix and end in .pfw,
//      .pfw.gz, .dfi or .dfcrash.
//   4. Names decide, not files: a link outside of the list that leads into a listed directory is not followed (nobody
//      could in 100 ns). The listed directories' own links are: see configure().
//   5. The rules lie in one mapping of their own that forked children inherit. Replaced ones stay mapped: a reader may
//      still be in them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dft::io {

struct PathRules;

struct PathList {
  const std::string_view* paths = nullptr;
  std::size_t count = 0;
};

struct FilterVerdict {
  bool traced;
  bool below;  // something below this path may be traced; certainly nothing when false
};

class PathFilter {
 public:
  constexpr PathFilter() = default;  // traces nothing
  PathFilter(const PathFilter&) = delete;
  PathFilter& operator=(const PathFilter&) = delete;

  // Relative entries are below the directory of this moment. Each entry counts under its name and under the real name
  // that symbolic links lead to now. An entry `all` among the includes sets trace_all; empty entries mean nothing.
  // `own_traces` is the prefix of this run's traces, empty when any file with their endings is to be left out. False
  // when memory is refused: the rules stay as they were.
  bool configure(PathList includes, PathList excludes, bool trace_all, std::string_view own_traces);

  // REQUIRES: absolute and normalised (path_name.h). Any other name is matched by its ending only.
  FilterVerdict look(std::string_view path) const;
  bool traces(std::string_view path) const { return look(path).traced; }
  bool traces_everything() const;  // then also what has no path: pipes, sockets, memfds

  // One opened path, or one descriptor met first, and whether it is traced; for saying that nothing was.
  void count(bool traced) {
    if (!traced) {
      count_filtered();
    } else if (!any_traced_.load(std::memory_order_relaxed)) {
      any_traced_.store(true, std::memory_order_relaxed);
    }
  }
  bool any_traced() const { return any_traced_.load(std::memory_order_relaxed); }
  std::uint64_t filtered() const;  // how many were not traced
  void reset_counts();             // at start and in a forked child

 private:
  void count_filtered();

  // Threads that open at the same time mostly count in different cache lines.
  static constexpr std::size_t kCounters = 8;
  struct alignas(64) Counter {
    std::atomic<std::uint64_t> value{0};
  };
  std::atomic<const PathRules*> rules_{nullptr};
  std::atomic<bool> any_traced_{false};
  Counter filtered_[kCounters];
};

}  // namespace dft::io
