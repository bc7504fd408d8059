// SPDX-License-Identifier: MIT
#include "base/buffer.h"

#include <sys/mman.h>

#include "base/raw_io.h"

namespace dft::base {

namespace {
constexpr std::size_t kMinCapacity = 64 * 1024;
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    release();
    data_ = other.data_;
    size_ = other.size_;
    capacity_ = other.capacity_;
    other.forget();
  }
  return *this;
}

bool Buffer::grow(std::size_t extra) {
  std::size_t wanted = capacity_ == 0 ? kMinCapacity : capacity_ * 2;
  while (wanted - size_ < extra) {
    if (wanted > (std::size_t{1} << 40)) return false;
    wanted *= 2;
  }
  char* bigger = static_cast<char*>(raw::map(wanted));
  if (bigger == nullptr) return false;
  raw::madvise(bigger, wanted, MADV_DONTFORK);  // a child must not pay for copies of what only the parent's drain needs
  if (size_ != 0) std::memcpy(bigger, data_, size_);
  if (data_ != nullptr) raw::unmap(data_, capacity_);
  data_ = bigger;
  capacity_ = wanted;
  return true;
}

void Buffer::release() {
  if (data_ != nullptr) raw::unmap(data_, capacity_);
  forget();
}

}  // namespace dft::base
