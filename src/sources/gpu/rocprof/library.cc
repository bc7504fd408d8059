// SPDX-License-Identifier: MIT
#include "sources/gpu/rocprof/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>

#include <cstring>
#include <string_view>

#include "base/raw_io.h"

namespace dft::gpu::rocprof {

namespace {

constexpr std::string_view kName = "librocprofiler-sdk.so";
constexpr std::string_view kRuntimes[] = {"libamdhip64.so", "libhsa-runtime64.so", "librocprofiler-sdk-roctx.so",
                                          "libroctx64.so", "librccl.so"};
constexpr const char* kFolders[] = {"/lib", "/lib64", ""};
constexpr const char* kFiles[] = {"librocprofiler-sdk.so", "librocprofiler-sdk.so.1", "librocprofiler-sdk.so.0"};

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }
std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view(".") : path.substr(0, slash);
}
bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

struct Path {
  char text[1024];
  bool set(std::string_view folder, std::string_view below, std::string_view file) {
    if (folder.size() + below.size() + file.size() + 2 > sizeof text) return false;
    char* at = text;
    const auto put = [&at](std::string_view part) {
      std::memcpy(at, part.data(), part.size());
      at += part.size();
    };
    put(folder);
    put(below);
    put("/");
    put(file);
    *at = '\0';
    return true;
  }
};

// What of the process's mapped objects matters.
struct Mapped {
  char sdk[1024] = {};
  char hip[1024] = {};
  bool any_runtime = false;
};
void keep(char (&out)[1024], const char* path) {
  const std::size_t size = std::strlen(path);
  if (size < sizeof out) std::memcpy(out, path, size + 1);
}
int note_object(dl_phdr_info* object, std::size_t, void* data) {
  Mapped& mapped = *static_cast<Mapped*>(data);
  if (object->dlpi_name == nullptr || object->dlpi_name[0] == '\0') return 0;
  const std::string_view name = name_of(object->dlpi_name);
  if (starts_with(name, kName)) keep(mapped.sdk, object->dlpi_name);
  if (starts_with(name, kRuntimes[0])) keep(mapped.hip, object->dlpi_name);
  mapped.any_runtime = mapped.any_runtime || names_runtime(object->dlpi_name);
  return 0;
}

bool open(const char* name, int flags, Library* out) {
  void* handle = dlopen(name, RTLD_LAZY | RTLD_NODELETE | flags);
  if (handle == nullptr) {
    dlerror();
    return false;
  }
  Functions functions;
  std::uint32_t major = 0, minor = 0, patch = 0;
  if (load_functions(handle, &functions) != nullptr || functions.get_version(&major, &minor, &patch) != kDone) {
    return false;
  }
  *out = Library();
  out->handle = handle;
  out->functions = functions;
  out->release = release_number(major, minor, patch);
  const link_map* map = nullptr;
  const bool known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr;
  keep(out->path, known ? map->l_name : name);
  return true;
}

bool open_in(std::string_view root, Library* out) {
  for (const char* folder : kFolders) {
    for (const char* file : kFiles) {
      Path path;
      if (path.set(root, folder, file) && open(path.text, RTLD_GLOBAL, out)) return true;
    }
  }
  return false;
}

}  // namespace

bool names_runtime(const char* path) {
  if (path == nullptr) return false;
  const std::string_view name = name_of(path);
  for (const std::string_view runtime : kRuntimes) {
    if (starts_with(name, runtime)) return true;
  }
  return false;
}

bool runtime_is_mapped() {
  Mapped mapped;
  dl_iterate_phdr(&note_object, &mapped);
  return mapped.any_runtime;
}

bool library_of(const void* caller, Library* out) {
  Dl_info info;
  if (dladdr(const_cast<void*>(caller), &info) != 0 && info.dli_fname != nullptr &&
      open(info.dli_fname, RTLD_NOLOAD, out)) {
    return true;
  }
  return find_mapped_library(out);
}

bool find_mapped_library(Library* out) {
  Mapped mapped;
  dl_iterate_phdr(&note_object, &mapped);
  return mapped.sdk[0] != '\0' && open(mapped.sdk, RTLD_NOLOAD, out);
}

bool find_library(const Search& search, Library* out) {
  const auto given = [](const char* text) { return text != nullptr && text[0] != '\0'; };
  Mapped mapped;
  dl_iterate_phdr(&note_object, &mapped);
  if (mapped.sdk[0] != '\0' && open(mapped.sdk, RTLD_NOLOAD, out)) return true;
  if (given(search.file)) return open(search.file, RTLD_GLOBAL, out);
  Dl_info info;
  if (search.beside != nullptr && dladdr(const_cast<void*>(search.beside), &info) != 0 && info.dli_fname != nullptr &&
      open_in(folder_of(info.dli_fname), out)) {
    return true;
  }
  if (given(search.rocm_path) && open_in(search.rocm_path, out)) return true;
  if (mapped.hip[0] != '\0' && open_in(folder_of(mapped.hip), out)) return true;
  for (const char* file : kFiles) {
    if (open(file, RTLD_GLOBAL, out)) return true;
  }
  return open_in("/opt/rocm", out);
}

Generation generation_of(std::uint32_t release, bool has_memory_allocation) {
  if (release >= kFirstWithClientSize) return Generation::k1;
  // Sources that call themselves 0.5.0 exist in both layouts; memory allocation came with the second.
  return has_memory_allocation ? Generation::k06 : Generation::k05;
}

bool has_driver(const char* topology) {
  const int fd = base::raw::open(topology, O_PATH | O_CLOEXEC, 0);
  if (fd < 0) return false;
  base::raw::close(fd);
  return true;
}

}  // namespace dft::gpu::rocprof
