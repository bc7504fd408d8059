/* SPDX-License-Identifier: MIT */
/* NVTX ranges, with CUDA or without. Usage: nvtx cuda|none */
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <string.h>
#ifdef WITH_INIT_CALL
#include <dftracer/dftracer.h>
#endif

int main(int argc, char** argv) {
#ifdef WITH_INIT_CALL
  DFTRACER_C_INIT(NULL, NULL, NULL);
#endif
  if (argc > 1 && strcmp(argv[1], "cuda") == 0) {
    void* runtime = dlopen("libcudart.so.13", RTLD_NOW);
    int (*release)(void*) = runtime != NULL ? (int (*)(void*))dlsym(runtime, "cudaFree") : NULL;
    if (release == NULL || release(NULL) != 0) return 1;
  }
  nvtxRangePushA("outer");
  nvtxRangePushA("inner");
  nvtxMarkA("mark");
  nvtxRangePop();
  nvtxRangePop();
  const nvtxRangeId_t id = nvtxRangeStartA("across");
  nvtxRangeEnd(id);
  return 0;
}
