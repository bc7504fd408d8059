// SPDX-License-Identifier: MIT
// Wrappers whose frame or return address must not be ours: vfork, and the functions of the dynamic linker.
#include <errno.h>

#include "intercept/process_wrappers.h"

#if defined(__x86_64__)

namespace dft::intercept {

// Not called through slots: only the assembly below has these names.
extern "C" {
__attribute__((used, visibility("hidden"))) void dft_before_vfork() {
  if (const ProcessHooks* hooks = process_hooks()) hooks->before_vfork();
}
__attribute__((used, visibility("hidden"))) void dft_after_vfork() {
  if (const ProcessHooks* hooks = process_hooks()) hooks->after_vfork();
}
__attribute__((used, visibility("hidden"))) int dft_vfork_failed(int error) {
  errno = error;
  return -1;
}
__attribute__((used, visibility("hidden"))) void* dft_real_dlopen(const char* file, int flags, const void* caller) {
  if (const ProcessHooks* hooks = process_hooks()) hooks->before_dlopen(file, flags, caller);
  return real_dlopen.find();
}
__attribute__((used, visibility("hidden"))) void* dft_real_dlsym(const void*, const void*, const void* caller) {
  if (const ProcessHooks* hooks = process_hooks()) hooks->before_dlsym(caller);
  return real_dlsym.find();
}
__attribute__((used, visibility("hidden"))) void* dft_real_dlvsym(const void*, const void*, const void* caller) {
  if (const ProcessHooks* hooks = process_hooks()) hooks->before_dlsym(caller);
  return real_dlvsym.find();
}
}

}  // namespace dft::intercept

// vfork cannot be wrapped by a C function: the child would return from it and destroy the frame that the parent needs.
// The return address is kept in a register across the system call, as libc does. The child shares this thread's
// storage, so the thread's recording is put aside until the parent runs again.
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".globl dft_wrap_vfork\n"
    ".hidden dft_wrap_vfork\n"
    ".type dft_wrap_vfork, @function\n"
    "dft_wrap_vfork:\n"
    "  .cfi_startproc\n"
    "  endbr64\n"
    "  subq $8, %rsp\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  call dft_before_vfork\n"
    "  addq $8, %rsp\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  popq %rdi\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  .cfi_register %rip, %rdi\n"
    "  movl $58, %eax\n"
    "  syscall\n"
    "  pushq %rdi\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  .cfi_rel_offset %rip, 0\n"
    "  testq %rax, %rax\n"
    "  jz 1f\n"
    "  pushq %rax\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  call dft_after_vfork\n"
    "  popq %rax\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  testq %rax, %rax\n"
    "  js 2f\n"
    "1:\n"
    "  ret\n"
    "2:\n"
    "  movl %eax, %edi\n"
    "  negl %edi\n"
    "  jmp dft_vfork_failed\n"
    "  .cfi_endproc\n"
    ".size dft_wrap_vfork, .-dft_wrap_vfork\n");

// The dynamic linker tells by the return address who calls (RUNPATH, namespace, what is next), so the caller must stay
// the caller: note, then jump.
#define DFT_NOTE_AND_JUMP(name)                              \
  __asm__(                                                   \
      ".text\n"                                              \
      ".p2align 4\n"                                         \
      ".globl dft_wrap_" #name                               \
      "\n"                                                   \
      ".hidden dft_wrap_" #name                              \
      "\n"                                                   \
      ".type dft_wrap_" #name ", @function\ndft_wrap_" #name \
      ":\n"                                                  \
      "  .cfi_startproc\n"                                   \
      "  endbr64\n"                                          \
      "  pushq %rdi\n"                                       \
      "  pushq %rsi\n"                                       \
      "  pushq %rdx\n"                                       \
      "  .cfi_adjust_cfa_offset 24\n"                        \
      "  movq 24(%rsp), %rdx\n"                              \
      "  call dft_real_" #name                               \
      "\n"                                                   \
      "  popq %rdx\n"                                        \
      "  popq %rsi\n"                                        \
      "  popq %rdi\n"                                        \
      "  .cfi_adjust_cfa_offset -24\n"                       \
      "  jmp *%rax\n"                                        \
      "  .cfi_endproc\n"                                     \
      ".size dft_wrap_" #name ", .-dft_wrap_" #name "\n");
DFT_NOTE_AND_JUMP(dlopen)
DFT_NOTE_AND_JUMP(dlsym)
DFT_NOTE_AND_JUMP(dlvsym)

#endif
