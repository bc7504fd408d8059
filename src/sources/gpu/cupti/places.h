// SPDX-License-Identifier: MIT
// Purpose: where libcupti may lie: what the process has mapped already, and what folders hold.
// Threads: any. Reads the loader's list and folders by raw system calls; no malloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dft::gpu::cupti {

inline constexpr std::size_t kPathSize = 4096;

// A path that fits, or is empty.
class Path {
 public:
  Path() { text_[0] = '\0'; }
  explicit Path(std::string_view text) { assign(text); }
  bool assign(std::string_view text);
  bool append(std::string_view text);  // as it is, without a slash
  bool empty() const { return text_[0] == '\0'; }
  const char* c_str() const { return text_; }
  std::string_view view() const { return {text_, size_}; }

 private:
  std::size_t size_ = 0;
  char text_[kPathSize];
};

std::string_view folder_of(std::string_view path);  // without the last slash; empty: none
std::string_view name_of(std::string_view path);

// "libcupti.so", "libcupti.so.12", "libcupti-<hash>.so.11.8" (as wheels rename what they carry), but no other library
// whose name begins so.
bool is_library(std::string_view name, std::string_view stem);
// Digits behind ".so.": major * 1000 + minor * 10, as CUDA counts; 0 without. "libcudart.so.11.0" gives 11000.
std::uint32_t version_in_name(std::string_view name);

// Paths as the loader knows them; empty: not mapped.
struct Mapped {
  Path driver;   // libcuda.so
  Path runtime;  // libcudart.so
  Path cupti;
};
void find_mapped(Mapped* out);

// The names in a folder, in its own order; none when it cannot be read.
void walk_folder(const char* folder, void (*see)(void* data, std::string_view name), void* data);
template <typename See>
void for_each_name(const char* folder, See see) {
  walk_folder(
      folder, [](void* data, std::string_view name) { (*static_cast<See*>(data))(name); }, &see);
}

// The libcupti in `folder` that fits best: the release asked for (same major, nearest), else the newest, but none that
// is newer than `newest` when an older one is there (0: no limit). False: the folder holds none.
bool find_in_folder(std::string_view folder, std::uint32_t wanted, std::uint32_t newest, Path* out);

}  // namespace dft::gpu::cupti
