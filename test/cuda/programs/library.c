/* SPDX-License-Identifier: MIT */
/* A library that is linked with the driver, as parts of frameworks are. */
int cuInit(unsigned flags);
int cuDeviceGetCount(int* count);

int library_work(void);
int library_work(void) {
  int count = 0;
  return cuInit(0) != 0 || cuDeviceGetCount(&count) != 0 || count != 1;
}
