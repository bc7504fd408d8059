// SPDX-License-Identifier: MIT
// Purpose: what every wrapper looks at: whether I/O is recorded, and the tables behind paths and descriptors.
// Threads: any. Constant-initialised: wrappers run before constructors.
#pragma once

#include <atomic>
#include <cstdint>

#include "sources/io/fd_table.h"
#include "sources/io/function.h"
#include "sources/io/mapping_table.h"
#include "sources/io/path_filter.h"
#include "sources/io/path_name.h"
#include "sources/io/path_target.h"

namespace dft::io {

// Category bits of the calls that become events; 0 while nothing is recorded, and then nothing is tracked either.
extern std::atomic<std::uint32_t> io_wanted;
// Not 0 while this thread's calls are passed on unseen: our own slow paths (a first event reads the configuration
// through libc), and a child of vfork, which shares its parent's tables.
extern __thread unsigned io_paused;
extern std::atomic<bool> io_args;  // false: DFTRACER_INC_METADATA=0, events without args

extern FdTable fd_table;
extern PathFilter path_filter;
extern WorkingDirectory working_directory;
extern PathResolver path_resolver;
extern MappingTable mapping_table;

inline bool tracking() { return io_wanted.load(std::memory_order_relaxed) != 0 && io_paused == 0; }

inline bool wanted(const Function& function) {
  return (io_wanted.load(std::memory_order_relaxed) & static_cast<std::uint32_t>(function.category)) != 0 &&
         io_paused == 0;
}

}  // namespace dft::io
