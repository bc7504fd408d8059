// SPDX-License-Identifier: MIT
#include "sources/io/path_name.h"

#include <cstring>

#include "base/raw_io.h"
#include "model/record.h"

namespace dft::io {

namespace raw = base::raw;

LongName::LongName() : memory_(static_cast<char*>(raw::map(kLongestName))) {}
LongName::~LongName() {
  if (memory_ != nullptr) raw::unmap(memory_, kLongestName);
}

PathText path_text(const char* path) {
  if (path == nullptr) return {{}, true};
  const std::size_t size = strnlen(path, PATH_MAX);
  if (size < PATH_MAX) return {{path, size}, true};
  return {{path, PATH_MAX - 1}, false};
}

namespace {

// A slash in front of a slash, a dot or the end is what needs a closer look; eight bytes at a time. `slash_before` has
// 0x80 in the lowest byte when a slash comes before the path.
bool nothing_to_resolve(std::string_view path, std::uint64_t slash_before) {
  if (path.back() == '/') return false;
  for (std::size_t at = 0; at < path.size(); at += 8) {
    const std::uint64_t word = model::leading_word(path.data() + at, path.size() - at);
    const std::uint64_t slashes = bytes_equal(word, '/');
    const std::uint64_t after_slash = slashes << 8 | slash_before;
    if ((after_slash & (slashes | bytes_equal(word, '.'))) != 0) return false;
    slash_before = slashes >> 56;
  }
  return true;
}

}  // namespace

bool plainly_normal(std::string_view path) {
  if (path.size() < 2 || path.front() != '/') return path == "/";
  return nothing_to_resolve(path, 0);
}

bool plainly_below(std::string_view path) { return !path.empty() && nothing_to_resolve(path, 0x80); }

void NameWriter::add(std::string_view path) {
  if (!cut_ && path.size() < room_ - size_ && plainly_below(path)) return push(path);
  std::size_t at = 0;
  while (at < path.size() && !cut_) {
    const void* slash = std::memchr(path.data() + at, '/', path.size() - at);
    const std::size_t end = slash != nullptr ? static_cast<const char*>(slash) - path.data() : path.size();
    const std::string_view component = path.substr(at, end - at);
    if (component == "..") {
      pop();
    } else if (!component.empty() && component != ".") {
      push(component);
    }
    at = end + 1;
  }
}

void NameWriter::push(std::string_view component) {
  const std::size_t room = room_ - size_;
  if (component.size() + 1 > room) {
    if (room > 1) {
      memory_[size_] = '/';
      std::memcpy(memory_ + size_ + 1, component.data(), room - 1);
      size_ = room_;
    }
    mark_cut();
    return;
  }
  memory_[size_] = '/';
  std::memcpy(memory_ + size_ + 1, component.data(), component.size());
  size_ += component.size() + 1;
}

void NameWriter::pop() {
  while (size_ != 0 && memory_[--size_] != '/') {
  }
}

void NameWriter::mark_cut() {
  if (cut_) return;
  cut_ = true;
  std::memcpy(memory_ + size_, kCutMark.data(), kCutMark.size());
  size_ += kCutMark.size();
}

void WorkingDirectory::start() {
  sequence_.store(0, std::memory_order_relaxed);  // a thread that was storing did not come along into the child
  cached_generation_.store(0, std::memory_order_relaxed);
  owner_.store(raw::pid(), std::memory_order_release);
}

void WorkingDirectory::changed() { generation_.fetch_add(1, std::memory_order_acq_rel); }

void WorkingDirectory::never_cache() {
  owner_.store(-1, std::memory_order_relaxed);
  changed();
}

std::size_t WorkingDirectory::read(char* out, std::size_t capacity) {
  const std::uint64_t generation = generation_.load(std::memory_order_acquire);
  const std::size_t size = read_cached(generation, out, capacity);
  return size != 0 ? size : ask(generation, out, capacity);
}

// A sequence lock whose data are atomic words. Each acquire load keeps the later ones behind it, the second look at the
// sequence included; they pair with the release stores in store().
std::size_t WorkingDirectory::read_cached(std::uint64_t generation, char* out, std::size_t capacity) const {
  const std::uint32_t sequence = sequence_.load(std::memory_order_acquire);
  if ((sequence & 1) != 0 || cached_generation_.load(std::memory_order_acquire) != generation) return 0;
  const std::size_t size = cached_size_.load(std::memory_order_acquire);
  if (size > PATH_MAX || size + 7 > capacity) return 0;
  for (std::size_t at = 0; at < size; at += 8) {
    const std::uint64_t word = words_[at / 8].load(std::memory_order_acquire);
    std::memcpy(out + at, &word, 8);
  }
  return sequence_.load(std::memory_order_acquire) == sequence ? size : 0;
}

[[gnu::noinline]] std::size_t WorkingDirectory::ask(std::uint64_t generation, char* out, std::size_t capacity) {
  constexpr std::string_view kDeleted = " (deleted)";
  std::size_t size = 0;
  const long told = raw::getcwd(out, capacity);
  if (told > 1) {
    size = static_cast<std::size_t>(told) - 1;
  } else {
    // A removed directory keeps its name here.
    const long linked = raw::readlink("/proc/thread-self/cwd", out, capacity);
    const bool whole = linked > 0 && static_cast<std::size_t>(linked) < capacity;
    const std::string_view text(out, whole ? static_cast<std::size_t>(linked) : 0);
    if (text.size() > kDeleted.size() && text.substr(text.size() - kDeleted.size()) == kDeleted) {
      size = text.size() - kDeleted.size();
    }
  }
  if (size == 0 || size > PATH_MAX || out[0] != '/') return 0;  // `(unreachable)/...` is no name
  if (owner_.load(std::memory_order_acquire) == raw::pid()) store(generation, out, size);
  return size;
}

void WorkingDirectory::store(std::uint64_t generation, const char* name, std::size_t size) {
  std::uint32_t sequence = sequence_.load(std::memory_order_relaxed);
  if ((sequence & 1) != 0) return;  // another thread stores, or this one below us in a signal handler
  if (!sequence_.compare_exchange_strong(sequence, sequence + 1, std::memory_order_acq_rel)) return;
  cached_generation_.store(generation, std::memory_order_release);
  cached_size_.store(size, std::memory_order_release);
  for (std::size_t at = 0; at < size; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, name + at, size - at < 8 ? size - at : 8);
    words_[at / 8].store(word, std::memory_order_release);
  }
  sequence_.store(sequence + 2, std::memory_order_release);
}

}  // namespace dft::io
