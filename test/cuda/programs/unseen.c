/* SPDX-License-Identifier: MIT */
/* Loads a library that is linked with the driver; nothing that the tracer could see follows. Usage: unseen LIBRARY */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  int (*work)(void) = library != NULL ? (int (*)(void))dlsym(library, "library_work") : NULL;
  if (work == NULL || work() != 0) return 1;
  return puts("done") < 0;
}
