// SPDX-License-Identifier: MIT
// Purpose: kernel ids -> symbols. They come when a code object is loaded, and are kept when it is unloaded: records of
//          its kernels arrive later.
// Threads: add on any thread of the application; find on the decoding thread. A short lock, no malloc.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/futex_lock.h"
#include "sources/gpu/flat_map.h"

namespace dft::gpu::rocprof {

struct KernelSymbol {
  const char* name;  // our copy, ends with a NUL; stays
  std::uint32_t group_segment_size;
  std::uint32_t private_segment_size;
};

class Symbols {
 public:
  void add(std::uint64_t kernel, std::string_view name);
  const char* find(std::uint64_t kernel);  // null: not known (yet)
  std::size_t count();
  void in_forked_child() { lock_.reset_after_fork(); }

 private:
  struct Arena {
    std::size_t left;
    char* at;
  };
  base::FutexLock lock_;
  FlatMap<WordKey, const char*> known_;
  Arena arena_{};
};

}  // namespace dft::gpu::rocprof
