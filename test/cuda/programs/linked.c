/* SPDX-License-Identifier: MIT */
/* Linked with the driver, and knows nothing of the tracer. */
#include <stdio.h>
int cuInit(unsigned flags);

int main(void) {
  if (cuInit(0) != 0) return 1;
  return puts("used the GPU") < 0;
}
