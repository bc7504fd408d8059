// SPDX-License-Identifier: MIT
// Purpose: a growing array of plain values on its own mapping, for code that must not call malloc. Unlike base::Buffer
//          a forked child inherits it.
// Threads: none; one owner. A child forked in the middle of a growth finds the old or the new mapping, both whole.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "base/raw_io.h"

namespace dft::intercept {

template <class T>
class MappedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>, "moved as bytes");

 public:
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }

  // False, and unchanged, when memory is refused.
  [[nodiscard]] bool push(const T& value) {
    if (size_ == capacity_ && !grow(size_ + 1)) return false;
    data_[size_] = value;
    ++size_;
    return true;
  }
  void pop() { --size_; }
  // `size` zeroed elements; what was there is lost.
  [[nodiscard]] bool assign_zero(std::size_t size) {
    if (size > capacity_ && !grow(size)) return false;
    if (size != 0) std::memset(static_cast<void*>(data_), 0, size * sizeof(T));
    size_ = size;
    return true;
  }
  template <class Keep>
  void keep_if(Keep keep) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i)
      if (keep(data_[i])) data_[kept++] = data_[i];
    size_ = kept;
  }
  void clear() { size_ = 0; }
  void release() {
    if (data_ != nullptr) base::raw::unmap(data_, capacity_ * sizeof(T));
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

 private:
  bool grow(std::size_t wanted) {
    std::size_t bytes = 4096;
    while (bytes < wanted * sizeof(T) || bytes < capacity_ * sizeof(T) * 2) bytes *= 2;
    auto* bigger = static_cast<T*>(base::raw::map(bytes));
    if (bigger == nullptr) return false;
    if (size_ != 0) std::memcpy(static_cast<void*>(bigger), data_, size_ * sizeof(T));
    T* old = data_;
    const std::size_t old_bytes = capacity_ * sizeof(T);
    data_ = bigger;
    capacity_ = bytes / sizeof(T);
    if (old != nullptr) base::raw::unmap(old, old_bytes);
    return true;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace dft::intercept
