// SPDX-License-Identifier: MIT
// Purpose: a growing byte buffer on its own mapping. The tracer's background work must not call malloc: it also runs
// while
//          the application is crashed inside malloc, and an allocator of the application may itself be traced.
// Threads: none; one owner.
// Invariant: the bytes are not inherited by a forked child; a buffer that lives there must be forgotten first
// (forget()).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace dft::base {

class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { release(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
    other.forget();
  }
  Buffer& operator=(Buffer&& other) noexcept;

  char* data() { return data_; }
  const char* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {data_, size_}; }

  void clear() { size_ = 0; }
  void resize_down(std::size_t size) { size_ = size; }  // REQUIRES: size <= size()

  // Room for `extra` more bytes behind end(). When memory is refused, false, and the buffer is unchanged.
  bool reserve(std::size_t extra) { return capacity_ - size_ >= extra || grow(extra); }
  char* end() { return data_ + size_; }
  void advance(std::size_t written) { size_ += written; }  // after writing behind end() within the reserved room

  // Appends, or drops the bytes and sets failed() when memory is refused.
  void append(const char* bytes, std::size_t n) {
    if (n == 0) return;  // an empty view may have no pointer
    if (!reserve(n)) {
      failed_ = true;
      return;
    }
    std::memcpy(end(), bytes, n);
    size_ += n;
  }
  void append(std::string_view text) { append(text.data(), text.size()); }
  void push(char c) { append(&c, 1); }
  void fail() { failed_ = true; }  // for writers that reserve by themselves
  bool failed() const { return failed_; }

  void release();                                               // gives the mapping back
  void forget() { data_ = nullptr, size_ = 0, capacity_ = 0; }  // without unmapping (fork child)

 private:
  bool grow(std::size_t extra);
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool failed_ = false;
};

}  // namespace dft::base
