/* SPDX-License-Identifier: MIT */
/* Calls HIP and ROCTx, whatever they answer: on a machine with ROCm and no GPU every call but a few fails. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

static void* open_first(const char* const* names) {
  for (; *names != NULL; ++names) {
    void* library = dlopen(*names, RTLD_NOW | RTLD_GLOBAL);
    if (library != NULL) return library;
  }
  return NULL;
}

int main(void) {
  static const char* const kHip[] = {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                     NULL};
  static const char* const kRoctx[] = {"librocprofiler-sdk-roctx.so", "librocprofiler-sdk-roctx.so.1",
                                       "librocprofiler-sdk-roctx.so.0", NULL};
  void* hip = open_first(kHip);
  void* roctx = open_first(kRoctx);
  if (hip == NULL) return 77;
  int (*count)(int*) = (int (*)(int*))dlsym(hip, "hipGetDeviceCount");
  int (*allocate)(void**, size_t) = (int (*)(void**, size_t))dlsym(hip, "hipMalloc");
  int (*release)(void*) = (int (*)(void*))dlsym(hip, "hipFree");
  int (*synchronize)(void) = (int (*)(void))dlsym(hip, "hipDeviceSynchronize");
  int (*push)(const char*) = (int (*)(const char*))dlsym(roctx != NULL ? roctx : hip, "roctxRangePushA");
  int (*pop)(void) = (int (*)(void))dlsym(roctx != NULL ? roctx : hip, "roctxRangePop");
  if (count == NULL || allocate == NULL || release == NULL || synchronize == NULL) return 77;
  int devices = -1;
  void* memory = NULL;
  if (push != NULL) push("asks");
  printf("hipGetDeviceCount %d", count(&devices));
  printf(" %d\n", devices);
  printf("hipMalloc %d\n", allocate(&memory, 4096));
  if (memory != NULL) printf("hipFree %d\n", release(memory));
  printf("hipDeviceSynchronize %d\n", synchronize());
  if (pop != NULL) pop();
  return 0;
}
