// SPDX-License-Identifier: MIT
#include "intercept/slot_writer.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/raw_io.h"

namespace dft::intercept {

namespace {
std::uintptr_t page_size() { return getauxval(AT_PAGESZ); }

long protect(std::uintptr_t page, int protection) {
  return base::raw::call(SYS_mprotect, static_cast<long>(page), static_cast<long>(page_size()), protection);
}
}  // namespace

// FUTEX_WAKE_OP or-s 0 into the second word, atomically: nothing changes, but the kernel answers EFAULT when the word
// cannot be written. It needs no /proc, and costs one system call instead of the text of all mappings.
PageAccess page_access(const void* word) {
  std::uint32_t nobody_waits = 0;
  const long result =
      base::raw::call(SYS_futex, reinterpret_cast<long>(&nobody_waits), FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0,
                      reinterpret_cast<long>(word), FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0));
  if (result >= 0) return PageAccess::kWritable;
  return result == -EFAULT ? PageAccess::kReadOnly : PageAccess::kUnknown;
}

bool SlotWriter::open_page(std::uintptr_t page) {
  if (page == page_) return writable_;
  finish();
  page_ = page;
  const PageAccess access = page_access(reinterpret_cast<const void*>(page));
  protect_again_ = access == PageAccess::kReadOnly && protect(page, PROT_READ | PROT_WRITE) == 0;
  writable_ = access == PageAccess::kWritable || protect_again_;
  return writable_;
}

void SlotWriter::finish() {
  if (protect_again_) protect(page_, PROT_READ);
  page_ = 0;
  protect_again_ = false;
}

SlotWriter::Result SlotWriter::exchange(SlotWord* word, void* expected, void* wanted) {
  const auto address = reinterpret_cast<std::uintptr_t>(word);
  if (!open_page(address / page_size() * page_size())) return Result::kRefused;
  // Release: a thread that reads the new value also sees what was stored before it (the real address).
  return word->compare_exchange_strong(expected, wanted, std::memory_order_release, std::memory_order_relaxed)
             ? Result::kDone
             : Result::kChanged;
}

}  // namespace dft::intercept
