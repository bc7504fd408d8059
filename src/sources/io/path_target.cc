// SPDX-License-Identifier: MIT
#include "sources/io/path_target.h"

#include <fcntl.h>

#include <cstring>

#include "record/emit.h"
#include "record/recorder.h"

namespace dft::io {

namespace {

constexpr PathTarget kNothing{0, false};
constexpr std::size_t kUsualName = 1024;

model::StringId id_of(std::string_view name) { return record::string_id(model::StringKind::kFile, name); }

bool starts_with(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

// N of a name that ends in /N; -1 for anything else.
int number_of(std::string_view digits) {
  if (digits.empty() || digits.size() > 10) return -1;
  std::int64_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  return number <= INT_MAX ? static_cast<int>(number) : -1;
}

int own_descriptor(std::string_view name) {
  for (const std::string_view folder : {"/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/"}) {
    if (starts_with(name, folder)) return number_of(name.substr(folder.size()));
  }
  if (name == "/dev/stdin") return 0;
  if (name == "/dev/stdout") return 1;
  return name == "/dev/stderr" ? 2 : -1;
}

// Whether own_descriptor() need be asked: one comparison of a word for each.
bool may_be_own_descriptor(std::string_view name) {
  if (name.size() < 8) return false;
  for (const char* begin : {"/dev/fd/", "/dev/std", "/proc/se", "/proc/th"}) {
    if (std::memcmp(name.data(), begin, 8) == 0) return true;
  }
  return false;
}

bool goes_up(std::string_view path) { return path.find("..") != std::string_view::npos; }

}  // namespace

PathTarget PathResolver::judged(std::string_view name) {
  if (filter_.traces(name)) {
    const model::StringId id = record::string_id(model::StringKind::kFile, name);
    return {id, id != 0};
  }
  if (may_be_own_descriptor(name)) return target_of_own_descriptor(name);
  return kNothing;
}

[[gnu::noinline]] PathTarget PathResolver::target_of_own_descriptor(std::string_view name) {
  const int fd = own_descriptor(name);
  if (fd < 0) return kNothing;
  const FdEntry entry = descriptors_.find(fd);
  return entry.traced ? PathTarget{entry.name, true} : kNothing;
}

[[gnu::noinline]] PathTarget PathResolver::composed(int dir_fd, PathText path) {
  if (path.bytes.empty() || nothing_traced_below(dir_fd, path.bytes)) return kNothing;
  char memory[kUsualName];
  const Composed name = compose(dir_fd, path, memory, sizeof memory);
  return name.fits ? judged(name.text) : composed_at_length(dir_fd, path);
}

[[gnu::noinline]] PathTarget PathResolver::composed_at_length(int dir_fd, PathText path) {
  const LongName room;
  if (room.memory() == nullptr) return kNothing;
  return judged(compose(dir_fd, path, room.memory(), kLongestName).text);
}

[[gnu::noinline]] model::StringId PathResolver::name_id(int dir_fd, PathText path) {
  char memory[kUsualName];
  const Composed name = compose(dir_fd, path, memory, sizeof memory);
  return name.fits ? id_of(name.text) : name_id_at_length(dir_fd, path);
}

[[gnu::noinline]] model::StringId PathResolver::name_id_at_length(int dir_fd, PathText path) {
  const LongName room;
  return id_of(room.memory() != nullptr ? compose(dir_fd, path, room.memory(), kLongestName).text : path.bytes);
}

// Most directories of a walk over untraced parts of the file system: their names are not needed.
bool PathResolver::nothing_traced_below(int dir_fd, std::string_view path) {
  if (dir_fd < 0 || path.front() == '/') return false;
  const FdEntry entry = descriptors_.find(dir_fd);
  return entry.kind == FdKind::kDirectory && entry.name == 0 && !goes_up(path);
}

PathResolver::Composed PathResolver::compose(int dir_fd, PathText path, char* memory, std::size_t capacity) {
  if (path.bytes.empty()) return {{}, true};
  std::size_t size = 0;
  if (path.bytes.front() != '/') {
    size = put_directory(dir_fd, memory, capacity);
    if (size == 0) {
      if (path.whole) return {path.bytes, capacity >= kLongestName};
      const std::size_t room = capacity - kCutMark.size();
      size = path.bytes.size() < room ? path.bytes.size() : room;
      std::memcpy(memory, path.bytes.data(), size);
      std::memcpy(memory + size, kCutMark.data(), kCutMark.size());
      return {{memory, size + kCutMark.size()}, capacity >= kLongestName};
    }
    if (size == 1) size = 0;  // the root: the slash comes with what is added
  }
  NameWriter name(memory, capacity, size);
  name.add(path.bytes);
  if (name.cut()) return {name.view(), false};
  if (!path.whole) name.mark_cut();
  return {name.view(), true};
}

// Its size in `memory`; 0 when it is not known or does not fit.
std::size_t PathResolver::put_directory(int dir_fd, char* memory, std::size_t capacity) {
  if (dir_fd == AT_FDCWD) {
    const std::size_t size = directory_.read(memory, capacity);
    return size + kCutMark.size() <= capacity ? size : 0;
  }
  const FdEntry entry = descriptors_.find(dir_fd);
  if (entry.name == 0) return ask_directory(dir_fd, entry, memory, capacity);
  model::StringDef known;
  if (!record::recorder.definitions.string(entry.name, known)) return 0;
  if (known.bytes.empty() || known.bytes.front() != '/') return 0;
  if (known.bytes.size() + kCutMark.size() > capacity) return 0;
  std::memcpy(memory, known.bytes.data(), known.bytes.size());
  return known.bytes.size();
}

// The table did not keep the name: the directory was opened as if it were an untraced file, or nothing below it is
// traced and the path leads out of it.
std::size_t PathResolver::ask_directory(int fd, FdEntry found, char* memory, std::size_t capacity) {
  if (capacity < kLongestName) return 0;
  const FdName name = fd_name(fd, memory, capacity);
  if (!starts_with(name.text, "/") || name.kind != FdKind::kDirectory) return 0;
  if (found.kind != FdKind::kDirectory) {
    FdEntry better{0, FdKind::kDirectory, false};
    if (filter_.look(name.text).below) better.name = record::string_id(model::StringKind::kFile, name.text);
    descriptors_.refine(fd, found, better);
  }
  return name.text.size();
}

}  // namespace dft::io
