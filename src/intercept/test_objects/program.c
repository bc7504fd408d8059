/* SPDX-License-Identifier: MIT */
/* A whole program, told by its link options: position-independent or not, with a preloaded shim or not. Prints how many
   of its 12 reads (3 of its own, 9 of a library) the wrapper and the shim saw. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "caller.h"
#include "tool.h"

/* Taken in code: a program that is not position-independent then owns the address of the function, an entry of its PLT.
   (The calls through that address and through the library's all lead to it.) */
static ReadFunction* __attribute__((noinline)) address_in_program(void) { return read; }

int main(int count, char** arguments) {
  const struct Tool* tool = DFT_TEST_TOOL();
  long* shim_reads = (long*)dlsym(RTLD_DEFAULT, "shim_reads");
  const int options = count > 1 && strcmp(arguments[1], "given") == 0 ? TOOL_GIVEN_REAL : TOOL_WITH_SPARE;
  char byte;
  if (!tool->bind(options)) return 3;
  const long wrapped = tool->reads();
  const long shimmed = shim_reads != NULL ? *shim_reads : 0;
  for (int i = 0; i < 3; ++i) {
    if (read(-1, &byte, 1) != -1) return 4;
    if (caller_read(-1, &byte, 1) != -1) return 4;
    if (caller_read_by_table(-1, &byte, 1) != -1) return 4;
    if (caller_read_address()(-1, &byte, 1) != -1) return 4;
  }
  char line[80];
  const int same = caller_read_address() == address_in_program();
  const int length =
      snprintf(line, sizeof line, "wrapped %ld shim %ld equal %d\n", tool->reads() + tool->spare_reads() - wrapped,
               shim_reads != NULL ? *shim_reads - shimmed : 0, same);
  if (write(1, line, (size_t)length) != length) return 7;
  tool->unbind();
  const long after = tool->reads();
  if (caller_read(-1, &byte, 1) != -1 || read(-1, &byte, 1) != -1) return 5;
  return tool->reads() == after || options == TOOL_GIVEN_REAL ? 0 : 6;
}
