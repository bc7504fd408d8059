/* SPDX-License-Identifier: MIT */
/* Purpose: a little of everything that HIP does, over the stand-in: 12 calls that are recorded in quiet mode, 3
 * kernels, */
/*          2 copies, 2 allocations (an allocation and its end), 1 range. */
#pragma once

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void* hip_function(const char* name) {
  void* library = dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_GLOBAL);
  void* found = library != NULL ? dlsym(library, name) : NULL;
  if (found == NULL) exit(90);
  return found;
}

static void use_hip(void) {
  int (*get_device)(int*) = (int (*)(int*))hip_function("hipGetDevice");
  int (*allocate)(void**, size_t) = (int (*)(void**, size_t))hip_function("hipMalloc");
  int (*release)(void*) = (int (*)(void*))hip_function("hipFree");
  int (*copy)(void*, const void*, size_t, int) = (int (*)(void*, const void*, size_t, int))hip_function("hipMemcpy");
  int (*load)(void**, const void*) = (int (*)(void**, const void*))hip_function("hipModuleLoadData");
  int (*unload)(void*) = (int (*)(void*))hip_function("hipModuleUnload");
  int (*find)(void**, void*, const char*) = (int (*)(void**, void*, const char*))hip_function("hipModuleGetFunction");
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**) =
      (int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
               void**))hip_function("hipModuleLaunchKernel");
  int (*create)(void**) = (int (*)(void**))hip_function("hipStreamCreate");
  int (*destroy)(void*) = (int (*)(void*))hip_function("hipStreamDestroy");
  int (*synchronize)(void*) = (int (*)(void*))hip_function("hipStreamSynchronize");
  int (*push)(const char*) = (int (*)(const char*))hip_function("roctxRangePushA");
  int (*pop)(void) = (int (*)(void))hip_function("roctxRangePop");
  float host[256];
  void *memory, *module, *kernel, *stream;
  int device, count = 256, wrong = 0;
  for (int i = 0; i < count; ++i) host[i] = 1.0f;
  wrong += get_device(&device) + allocate(&memory, sizeof host) + copy(memory, host, sizeof host, 1);
  wrong += load(&module, "") + find(&kernel, module, "_ZN5train5scaleIfEEvPT_i") + create(&stream);
  push("range");
  for (int i = 0; i < 3; ++i) {
    void* arguments[] = {&memory, &count};
    wrong += launch(kernel, 1, 1, 1, 256, 1, 1, 0, stream, arguments, NULL);
  }
  wrong += synchronize(stream);
  pop();
  wrong += copy(host, memory, sizeof host, 2) + destroy(stream) + release(memory) + unload(module);
  if (wrong != 0 || host[0] != 8.0f || host[255] != 8.0f) exit(91);
}
