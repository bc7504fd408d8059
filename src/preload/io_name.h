// SPDX-License-Identifier: MIT
// Purpose: an exported libc name as a jump to the wrapper that core's table has for it. No frame and no register that a
//          call hands anything in, so it serves functions of any signature, variadic ones too, and works before any
//          constructor: the table is filled by the dynamic linker.
// Threads: any.
#pragma once

#if defined(__x86_64__)
#define DFT_IO_NAME(name, table, offset) \
  __asm__(                               \
      ".text\n"                          \
      ".p2align 4\n"                     \
      ".globl " name                     \
      "\n"                               \
      ".type " name ", @function\n" name \
      ":\n"                              \
      "  .cfi_startproc\n"               \
      "  endbr64\n"                      \
      "  movq " table                    \
      "@GOTPCREL(%rip), %r11\n"          \
      "  jmp *" offset                   \
      "(%r11)\n"                         \
      "  .cfi_endproc\n"                 \
      ".size " name ", .-" name "\n");
#elif defined(__aarch64__)
#define DFT_IO_NAME(name, table, offset)  \
  __asm__(                                \
      ".text\n"                           \
      ".p2align 4\n"                      \
      ".globl " name                      \
      "\n"                                \
      ".type " name ", %function\n" name  \
      ":\n"                               \
      "  .cfi_startproc\n"                \
      "  hint #34\n"                      \
      "  adrp x16, :got:" table           \
      "\n"                                \
      "  ldr x16, [x16, :got_lo12:" table \
      "]\n"                               \
      "  ldr x16, [x16, #" offset         \
      "]\n"                               \
      "  br x16\n"                        \
      "  .cfi_endproc\n"                  \
      ".size " name ", .-" name "\n");
#endif
