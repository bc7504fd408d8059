// SPDX-License-Identifier: MIT
// Start of a preloaded process, its ends, fork and vfork.
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/raw_io.h"
#include "intercept/real_function.h"
#include "session/lifecycle.h"

#define DFT_INTERCEPT(name) __asm__(name) __attribute__((visibility("default")))

namespace {

using dft::intercept::RealFunction;
RealFunction<void(int)> real_exit("_exit");
RealFunction<void(int)> real_quick_exit("quick_exit");
RealFunction<pid_t()> real_fork("fork");

// Looked up here and not at the first call, which may be in a signal handler: dlsym takes the dynamic linker's lock.
__attribute__((constructor)) void on_load() {
  real_exit.get();
  real_quick_exit.get();
  real_fork.get();
  dftracer_preload_start();
}

[[noreturn]] void end_process(int status) {
  dftracer_before_exit();
  if (real_exit.get() != nullptr) real_exit.get()(status);
  for (;;) dft::base::raw::call(SYS_exit_group, status);
}

}  // namespace

extern "C" {

void dft_exit(int status) DFT_INTERCEPT("_exit");
void dft_exit(int status) { end_process(status); }

void dft_Exit(int status) DFT_INTERCEPT("_Exit");
void dft_Exit(int status) { end_process(status); }

// quick_exit handlers of the application run first (they may have events), ours among them, then _exit.
void dft_quick_exit(int status) DFT_INTERCEPT("quick_exit");
void dft_quick_exit(int status) {
  real_quick_exit.get()(status);
  end_process(status);
}

pid_t dft_fork() DFT_INTERCEPT("fork");
pid_t dft_fork() { return dftracer_traced_fork(real_fork.get()); }

#if defined(__x86_64__)
// vfork cannot be wrapped by a C function: the child would return from it and destroy the frame that the parent needs.
// The return address is kept in a register across the system call, as libc does. The child shares this thread's
// storage, so the thread's recording is put aside until the parent runs again.
int dft_vfork_failed(int error) __asm__("dft_vfork_failed") __attribute__((used, visibility("hidden")));
int dft_vfork_failed(int error) {
  errno = error;
  return -1;
}
__asm__(
    ".text\n"
    ".globl vfork\n"
    ".type vfork, @function\n"
    "vfork:\n"
    "  .cfi_startproc\n"
    "  endbr64\n"
    "  subq $8, %rsp\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  call dftracer_before_vfork@PLT\n"
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
    "  call dftracer_after_vfork@PLT\n"
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
    ".size vfork, .-vfork\n");

// dlopen finds libraries relative to its caller (RUNPATH, namespace), so the caller must stay the caller: note, then
// jump.
void* dft_real_dlopen() __asm__("dft_real_dlopen") __attribute__((used, visibility("hidden")));
void* dft_real_dlopen() {
  static RealFunction<void*(const char*, int)> real("dlopen");
  dftracer_before_dlopen();
  return reinterpret_cast<void*>(real.get());
}
__asm__(
    ".text\n"
    ".globl dlopen\n"
    ".type dlopen, @function\n"
    "dlopen:\n"
    "  .cfi_startproc\n"
    "  endbr64\n"
    "  pushq %rdi\n"
    "  pushq %rsi\n"
    "  subq $8, %rsp\n"
    "  .cfi_adjust_cfa_offset 24\n"
    "  call dft_real_dlopen\n"
    "  addq $8, %rsp\n"
    "  popq %rsi\n"
    "  popq %rdi\n"
    "  .cfi_adjust_cfa_offset -24\n"
    "  jmp *%rax\n"
    "  .cfi_endproc\n"
    ".size dlopen, .-dlopen\n");
#endif
}
