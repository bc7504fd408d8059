/* SPDX-License-Identifier: MIT */
/* S20 in small: loads LIBRARY TIMES: a program that knows the tracer only through dlopen (RTLD_LOCAL), and closes it
 * again. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  for (int i = 0; i < atoi(argv[2]); i++) {
    void* library = dlopen(argv[1], RTLD_LOCAL | RTLD_NOW);
    if (library == NULL) {
      printf("%s\n", dlerror());
      return 1;
    }
    void (*start)(const char*, const char*, int*) =
        (void (*)(const char*, const char*, int*))dlsym(library, "dftracer_initialize_main");
    void* (*begin)(const char*, const char*, int) =
        (void* (*)(const char*, const char*, int))dlsym(library, "dftracer_initialize_region");
    void (*end)(void*) = (void (*)(void*))dlsym(library, "dftracer_finalize_region");
    start(NULL, NULL, NULL);
    for (int k = 0; k < 100; k++) end(begin("loaded", "LOADED", 0));
    dlclose(library);
  }
  puts("ok");
  return 0;
}
