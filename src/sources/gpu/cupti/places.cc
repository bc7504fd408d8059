// SPDX-License-Identifier: MIT
#include "sources/gpu/cupti/places.h"

#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>

#include <cstring>

#include "base/raw_io.h"

namespace dft::gpu::cupti {

bool Path::assign(std::string_view text) {
  size_ = 0;
  text_[0] = '\0';
  return append(text);
}

bool Path::append(std::string_view text) {
  if (text.size() >= kPathSize - size_) {
    size_ = 0;
    text_[0] = '\0';
    return false;
  }
  std::memcpy(text_ + size_, text.data(), text.size());
  size_ += text.size();
  text_[size_] = '\0';
  return true;
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view name_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_library(std::string_view name, std::string_view stem) {
  if (name.substr(0, stem.size()) != stem) return false;
  name.remove_prefix(stem.size());
  if (!name.empty() && name[0] == '-') {
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return false;
    name.remove_prefix(dot);
  }
  return name == ".so" || name.substr(0, 4) == ".so.";
}

std::uint32_t version_in_name(std::string_view name) {
  const std::size_t at = name.find(".so.");
  if (at == std::string_view::npos) return 0;
  std::uint32_t parts[2] = {0, 0};
  unsigned part = 0;
  for (const char c : name.substr(at + 4)) {
    if (c == '.') {
      if (++part == 2) break;
    } else if (c < '0' || c > '9' || parts[part] > 10'000) {
      return 0;
    } else {
      parts[part] = parts[part] * 10 + static_cast<std::uint32_t>(c - '0');
    }
  }
  return parts[0] > 1'000 ? 0 : parts[0] * 1'000 + parts[1] * 10;  // a year in the name is not a release
}

namespace {

int note_object(dl_phdr_info* object, std::size_t, void* data) {
  auto* mapped = static_cast<Mapped*>(data);
  if (object->dlpi_name == nullptr) return 0;
  const std::string_view path = object->dlpi_name;
  const std::string_view name = name_of(path);
  if (mapped->driver.empty() && is_library(name, "libcuda")) mapped->driver.assign(path);
  if (mapped->runtime.empty() && is_library(name, "libcudart")) mapped->runtime.assign(path);
  if (mapped->cupti.empty() && is_library(name, "libcupti")) mapped->cupti.assign(path);
  return 0;
}

struct Choice {
  std::uint32_t wanted;
  std::uint32_t newest;
  char name[256];
  std::uint32_t version = 0;
  bool found = false;

  // Larger is better. A file without a version is the folder's own choice, behind all that say theirs.
  std::int64_t rank(std::int64_t version_of_file) const {
    if (newest != 0 && version_of_file / 1'000 > newest / 1'000) return -version_of_file;
    if (wanted != 0 && version_of_file / 1'000 == wanted / 1'000) return 2'000'000 + version_of_file;
    return 1 + version_of_file;
  }
  void offer(std::string_view file) {
    const std::uint32_t theirs = version_in_name(file);
    if (!is_library(file, "libcupti") || file.size() >= sizeof(name)) return;
    if (found && rank(theirs) <= rank(version)) return;
    std::memcpy(name, file.data(), file.size());
    name[file.size()] = '\0';
    version = theirs;
    found = true;
  }
};

}  // namespace

void walk_folder(const char* folder, void (*see)(void*, std::string_view), void* data) {
  struct Entry {  // what getdents64 writes
    std::uint64_t inode;
    std::int64_t next;
    std::uint16_t size;
    std::uint8_t type;
    char name[1];
  };
  const int fd = base::raw::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd < 0) return;
  alignas(Entry) char entries[4096];
  for (;;) {
    const long got = base::raw::call(SYS_getdents64, fd, reinterpret_cast<long>(entries), sizeof(entries));
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const Entry*>(entries + at);
      see(data, entries + at + offsetof(Entry, name));
      at += entry->size;
    }
  }
  base::raw::close(fd);
}

void find_mapped(Mapped* out) { dl_iterate_phdr(note_object, out); }

bool find_in_folder(std::string_view folder, std::uint32_t wanted, std::uint32_t newest, Path* out) {
  Path path(folder);
  if (path.empty()) return false;
  Choice choice{wanted, newest, {}};
  for_each_name(path.c_str(), [&](std::string_view name) { choice.offer(name); });
  return choice.found && path.append("/") && path.append(choice.name) && out->assign(path.view());
}

}  // namespace dft::gpu::cupti
