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

class Symbols {
 public:
  void add(std::uint64_t kernel, std::string_view name);
  const char* find(std::uint64_t kernel);  // null: not known (yet)
  std::size_t count();
  void in_forked_child() { lock_.reset_after_fork(); }

 private:
  const char* copy(std::string_view name);  // ends with a NUL; null: no memory
  base::FutexLock lock_;
  FlatMap<WordKey, const char*> known_;
  char* at_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace dft::gpu::rocprof
