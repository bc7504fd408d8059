// SPDX-License-Identifier: MIT
#include "base/readable.h"

#include <errno.h>
#include <sys/syscall.h>

#include <cstdint>
#include <cstring>

#include "base/raw_io.h"

namespace dft::base {

// The kernel reads the eight bytes of a signal mask before it looks at what to do with them, which here is nothing.
bool readable(const void* address) {
  constexpr long kNoSuchWay = -1;
  const auto word = reinterpret_cast<std::uintptr_t>(address) & ~std::uintptr_t{7};
  if (word == 0) return false;  // to the kernel: no mask
  return raw::call(SYS_rt_sigprocmask, kNoSuchWay, static_cast<long>(word), 0, 8) != -EFAULT;
}

const char* readable_text(const char* text, std::size_t most) {
  constexpr std::size_t kPiece = 4096;  // no page is smaller
  if (text == nullptr) return nullptr;
  for (std::size_t at = 0; at < most;) {
    if (!readable(text + at)) return nullptr;
    std::size_t size = kPiece - reinterpret_cast<std::uintptr_t>(text + at) % kPiece;
    if (size > most - at) size = most - at;
    if (strnlen(text + at, size) < size) break;
    at += size;
  }
  return text;
}

}  // namespace dft::base
