/* SPDX-License-Identifier: MIT */
/* S20: opens_library LIBRARY COUNT: calls that a library makes which is loaded later, without joining the global scope.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** words) {
  (void)count;
  void* library = dlopen(words[1], RTLD_LOCAL | RTLD_NOW);
  if (library == NULL) return puts(dlerror()), 1;
  int (*read_often)(int) = (int (*)(int))dlsym(library, "read_often");
  return read_often(atoi(words[2]));
}
