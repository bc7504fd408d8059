// SPDX-License-Identifier: MIT
#include "base/own_stack.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstddef>

#include "base/raw_io.h"
#include "base/sanitizer.h"

#ifdef DFT_OWN_STACK

// void (void (*body)(void*), void* argument, void* top). The frame pointer leads back, for us and for debuggers.
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".globl dft_call_on_stack\n"
    ".hidden dft_call_on_stack\n"
    ".type dft_call_on_stack, @function\n"
    "dft_call_on_stack:\n"
    "  .cfi_startproc\n"
    "  endbr64\n"
    "  pushq %rbp\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  .cfi_offset %rbp, -16\n"
    "  movq %rsp, %rbp\n"
    "  .cfi_def_cfa_register %rbp\n"
    "  movq %rdx, %rsp\n"
    "  movq %rdi, %rax\n"
    "  movq %rsi, %rdi\n"
    "  call *%rax\n"
    "  leave\n"
    "  .cfi_def_cfa %rsp, 8\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size dft_call_on_stack, . - dft_call_on_stack\n");

extern "C" void dft_call_on_stack(void (*body)(void*), void* argument, void* top);

namespace dft::base {

namespace {
constexpr std::size_t kRoom = 256UL << 10;  // only what is touched costs memory
constexpr std::size_t kGuard = 4096;

class Stack {
 public:
  Stack() : memory_(static_cast<char*>(raw::map(kGuard + kRoom))) {
    if (memory_ != nullptr) raw::call(SYS_mprotect, reinterpret_cast<long>(memory_), kGuard, PROT_NONE);
  }
  ~Stack() {
    if (memory_ != nullptr) raw::unmap(memory_, kGuard + kRoom);
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  void* top() const { return memory_ != nullptr ? memory_ + kGuard + kRoom : nullptr; }

 private:
  char* memory_;
};
}  // namespace

void run_on_own_stack(void (*body)(void*), void* argument) {
  const Stack stack;
  if (stack.top() == nullptr) return body(argument);
  const UnseenByThreadSanitizer unseen;  // the address may be another thread's next, which it does not see
  dft_call_on_stack(body, argument, stack.top());
}

}  // namespace dft::base

#else

void dft::base::run_on_own_stack(void (*body)(void*), void* argument) { body(argument); }

#endif
