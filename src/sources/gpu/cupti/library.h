// SPDX-License-Identifier: MIT
// Purpose: finds the CUPTI library and opens it. It is never linked and never closed.
// Looked at, the first that can be used: the copy that the process has mapped (a second one could not subscribe);
// DFTRACER_CUPTI_PATH, and then nothing else; beside the mapped libcudart, or in the Python wheel of its release;
// CUDA_HOME; the loader's own places; the toolkit of the build.
// Threads: the one that starts GPU tracing. dlopen runs the library's constructors and may take milliseconds.
#pragma once

#include <cstdint>
#include <string_view>

#include "sources/gpu/cupti/functions.h"
#include "sources/gpu/cupti/places.h"
#include "sources/gpu/cupti/version.h"

namespace dft::gpu::cupti {

struct Search {
  const char* path = nullptr;        // DFTRACER_CUPTI_PATH: the library or a folder; null or empty: not given
  const char* cuda_home = nullptr;   // CUDA_HOME
  const char* built_with = nullptr;  // folder of the build's libcupti; kBuildFolder
};
extern const char* const kBuildFolder;

enum class Origin : std::uint8_t { kNone, kMapped, kPath, kRuntime, kCudaHome, kLoader, kBuild };
std::string_view origin_text(Origin origin);

// The places that were looked at in vain, with the reason of each, in one line that is cut where it is full.
class Tried {
 public:
  void note(std::string_view place, std::string_view why, std::string_view what = {});
  const char* c_str() const { return text_; }

 private:
  void put(std::string_view text);
  std::size_t size_ = 0;
  char text_[1024] = {};
};

struct Library {
  void* handle = nullptr;  // null: none was found, `tried` says where
  Origin origin = Origin::kNone;
  Path path;        // as the loader knows it
  Version version;  // of api 0 when the library does not say it: 13.3 and later answer nothing without a usable driver
  Functions functions;
  // The library is there, but must not be called before CUDA is up: ask again then. Only 13.2, which without a usable
  // driver calls itself until the stack ends, whatever one asks of it.
  bool waits_for_driver = false;
  std::uint32_t driver_cuda = 0;  // CUDA_VERSION that the mapped driver supports; 0: not known
  Tried tried;

  // Callbacks while a graph is made.
  bool may_see_graphs() const { return !version.graph_callbacks_crash(driver_cuda); }
};

// True when the CUDA driver is in the process. Without it there is nothing to trace, and nothing is opened.
bool driver_is_mapped();
// On false *out may be given in again later.
bool open_library(const Search& search, Library* out);
// The same for a process whose mapped objects are `mapped`.
bool open_library(const Search& search, const Mapped& mapped, Library* out);

}  // namespace dft::gpu::cupti
