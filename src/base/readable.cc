// SPDX-License-Identifier: MIT
#include "base/readable.h"

#include <errno.h>
#include <sys/syscall.h>

#include <cstdint>
#include <cstring>

#include "base/raw_io.h"

namespace dft::base {

// The kernel reads the mask, here of one byte, before it looks for the process, which nobody is. One byte: tools that
// check what is handed to the kernel (Valgrind) find nothing wrong.
bool readable(const void* address) {
  constexpr long kNobody = -1;
  return raw::call(SYS_sched_setaffinity, kNobody, 1, reinterpret_cast<long>(address)) != -EFAULT;
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
