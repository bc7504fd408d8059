// SPDX-License-Identifier: MIT
#include "sources/gpu/cupti/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>

#include "base/futex_lock.h"
#include "base/own_stack.h"
#include "base/raw_io.h"

#ifndef DFT_CUPTI_LIBDIR
#define DFT_CUPTI_LIBDIR ""
#endif

namespace dft::gpu::cupti {

const char* const kBuildFolder = DFT_CUPTI_LIBDIR;

std::string_view origin_text(Origin origin) {
  switch (origin) {
    case Origin::kNone: return "not found";
    case Origin::kMapped: return "mapped by the process";
    case Origin::kPath: return "DFTRACER_CUPTI_PATH";
    case Origin::kRuntime: return "of the mapped libcudart";
    case Origin::kCudaHome: return "CUDA_HOME";
    case Origin::kLoader: return "the loader's path";
    case Origin::kBuild: return "the toolkit of the build";
  }
  return "";
}

void Tried::put(std::string_view text) {
  const std::size_t room = sizeof(text_) - 1 - size_;
  const std::size_t n = text.size() < room ? text.size() : room;
  text.copy(text_ + size_, n);
  size_ += n;
}

void Tried::note(std::string_view place, std::string_view why, std::string_view what) {
  if (size_ != 0) put("; ");
  put(place);
  put(": ");
  put(why);
  put(what);
}

namespace {

// Where a toolkit, conda environment or wheel has libraries, below its root.
constexpr const char* kLibraryFolders[] = {
    "",
    "/lib64",
    "/lib",
    "/targets/x86_64-linux/lib",
    "/targets/sbsa-linux/lib",
    "/extras/CUPTI/lib64",
    "/extras/CUPTI/lib",
};
// Names that the loader may know: without a number, by which LD_LIBRARY_PATH's order counts, then the newest release
// first; before 12 each minor release has its own.
struct Soname {
  const char* name;
  std::uint32_t cuda;
};
constexpr Soname kSonames[] = {
    {"libcupti.so", 0},          {"libcupti.so.13", 13000},   {"libcupti.so.12", 12000},   {"libcupti.so.11.8", 11080},
    {"libcupti.so.11.7", 11070}, {"libcupti.so.11.6", 11060}, {"libcupti.so.11.5", 11050}, {"libcupti.so.11.4", 11040},
    {"libcupti.so.11.3", 11030}, {"libcupti.so.11.2", 11020}, {"libcupti.so.11.1", 11010}, {"libcupti.so.11.0", 11000},
    {"libcupti.so.10.2", 10020}, {"libcupti.so.10.1", 10010},
};

// Asks the mapped driver for a number by a function that needs no more than an initialised driver; 0: it cannot say.
int ask_driver(const Path& driver, const char* function) {
  if (driver.empty()) return 0;
  void* handle = dlopen(driver.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return 0;
  int number = 0;
  const auto ask = reinterpret_cast<int (*)(int*)>(dlsym(handle, function));
  if (ask == nullptr || ask(&number) != 0) number = 0;
  dlclose(handle);  // RTLD_NOLOAD counted one more user
  return number > 0 ? number : 0;
}

// 13.2 has the second activity interface, but not yet how to read its records.
bool is_13_2(const Functions& functions) {
  return functions.enable_v2 != nullptr && functions.next_record_v2 == nullptr;
}

class Opener {
 public:
  Opener(const Mapped& mapped, Library* out) : mapped_(mapped), out_(out) {
    out_->driver_cuda = static_cast<std::uint32_t>(ask_driver(mapped.driver, "cuDriverGetVersion"));
  }

  // `name` as dlopen takes it. On success the library is in *out_, else the reason is noted.
  bool open(const char* name, Origin origin, int more_flags = 0) {
    void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | more_flags);
    if (handle == nullptr) {
      const char* why = dlerror();
      out_->tried.note(name, why != nullptr ? why : "cannot be opened");
      return false;
    }
    // From here on it stays mapped, used or not: 13.0 leaves pointers to itself behind.
    if (const char* missing = load_functions(handle, &out_->functions); missing != nullptr) {
      out_->tried.note(name, "is no CUPTI of 10.1 or newer: it lacks ", missing);
      out_->functions = Functions();
      return false;
    }
    out_->waits_for_driver = is_13_2(out_->functions) && ask_driver(mapped_.driver, "cuDeviceGetCount") == 0;
    if (out_->waits_for_driver) {
      out_->tried.note(name, "is CUPTI 13.2, which crashes before CUDA is up");
      return false;
    }
    std::uint32_t api = 0;
    if (out_->functions.get_version(&api) != CUPTI_SUCCESS) api = 0;
    out_->handle = handle;
    out_->origin = origin;
    out_->version = Version(api);
    const link_map* map = nullptr;
    const bool known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr;
    out_->path.assign(known ? map->l_name : name);
    return true;
  }

  // The library of one folder. Folders that are not there are not worth a word.
  bool open_folder(std::string_view folder, std::uint32_t wanted, Origin origin) {
    Path file;
    return find_in_folder(folder, wanted, out_->driver_cuda, &file) && open(file.c_str(), origin);
  }

  bool open_root(std::string_view root, std::uint32_t wanted, Origin origin) {
    if (root.empty()) return false;
    for (const char* below : kLibraryFolders) {
      Path folder(root);
      if (folder.append(below) && open_folder(folder.view(), wanted, origin)) return true;
    }
    return false;
  }

  bool open_mapped() { return !mapped_.cupti.empty() && open(mapped_.cupti.c_str(), Origin::kMapped, RTLD_NOLOAD); }

  // .../lib64, .../nvidia/cu13/lib: CUPTI is in the same folder; toolkits up to 10.1: ../extras/CUPTI/lib64; wheels of
  // 11 and 12: .../nvidia/cuda_runtime/lib and .../nvidia/cuda_cupti/lib.
  bool open_beside_runtime() {
    const std::string_view folder = folder_of(mapped_.runtime.view());
    if (folder.empty()) return false;
    const std::uint32_t wanted = version_in_name(name_of(mapped_.runtime.view()));
    if (open_folder(folder, wanted, Origin::kRuntime)) return true;
    for (const char* other : {"/../extras/CUPTI/lib64", "/../../cuda_cupti/lib", "/../../../extras/CUPTI/lib64"}) {
      Path beside(folder);
      if (beside.append(other) && open_folder(beside.view(), wanted, Origin::kRuntime)) return true;
    }
    return false;
  }

  bool open_by_loader() {
    for (const Soname& soname : kSonames) {
      if (out_->driver_cuda != 0 && soname.cuda / 1'000 > out_->driver_cuda / 1'000) continue;
      if (open_quietly(soname.name)) return true;
    }
    out_->tried.note("libcupti.so of the loader's path", "not found");
    return false;
  }

 private:
  // The loader's answer for each of the names in turn would hide what matters.
  bool open_quietly(const char* name) {
    if (dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) == nullptr) {
      dlerror();
      return false;
    }
    if (!open(name, Origin::kLoader)) return false;
    const std::uint32_t oldest = out_->version.toolkits().oldest;
    if (oldest == 0 || out_->driver_cuda == 0 || oldest / 1'000 <= out_->driver_cuda / 1'000) return true;
    out_->tried.note(out_->path.view(), "is newer than the driver");
    out_->handle = nullptr;
    out_->origin = Origin::kNone;
    out_->functions = Functions();
    return false;
  }

  const Mapped& mapped_;
  Library* out_;
};

bool given(const char* text) { return text != nullptr && text[0] != '\0'; }

bool is_folder(const char* path) {
  struct ::stat info;
  const int fd = base::raw::open(path, O_PATH | O_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool folder = base::raw::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
  base::raw::close(fd);
  return folder;
}

bool open_path(Opener& opener, const char* path, std::uint32_t wanted, Tried* tried) {
  if (!is_folder(path)) return opener.open(path, Origin::kPath);
  if (opener.open_root(path, wanted, Origin::kPath)) return true;
  tried->note(path, "holds no libcupti.so that can be used");
  return false;
}

}  // namespace

bool driver_is_mapped() {
  const base::SignalGuard signals;
  return base::on_own_stack([] {
    Mapped mapped;
    find_mapped(&mapped);
    return !mapped.driver.empty();
  });
}

bool open_library(const Search& search, const Mapped& mapped, Library* out) {
  *out = Library();
  Opener opener(mapped, out);
  // Found, or found and not to be called yet: no other copy is looked for.
  const auto done = [out](bool opened) { return opened || out->waits_for_driver; };
  const std::uint32_t wanted = version_in_name(name_of(mapped.runtime.view()));
  if (done(opener.open_mapped())) return out->handle != nullptr;
  // What the user names is used or complained about, never replaced by another copy.
  if (given(search.path)) return open_path(opener, search.path, wanted, &out->tried);
  if (done(opener.open_beside_runtime()) ||
      (given(search.cuda_home) && done(opener.open_root(search.cuda_home, wanted, Origin::kCudaHome))) ||
      done(opener.open_by_loader()) || !given(search.built_with)) {
    return out->handle != nullptr;
  }
  return opener.open_folder(search.built_with, wanted, Origin::kBuild);
}

bool open_library(const Search& search, Library* out) {
  Mapped mapped;
  find_mapped(&mapped);
  return open_library(search, mapped, out);
}

}  // namespace dft::gpu::cupti
