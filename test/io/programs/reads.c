/* SPDX-License-Identifier: MIT */
/* reads COUNT: opens `in` that often and reads 7 bytes of it each time. As a library (S20): the same by a function, and
 * by a constructor (S25). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int read_often(int count) {
  char bytes[8];
  for (int i = 0; i < count; i++) {
    const int fd = open("in", O_RDONLY);
    if (read(fd, bytes, 7) != 7) return 1;
    close(fd);
  }
  return 0;
}

#ifdef LIBRARY
__attribute__((constructor(101))) static void early(void) {
  FILE* file = fopen("early", "w");
  fprintf(file, "early\n");
  fclose(file);
  read_often(1);
}
#else
int main(int count, char** words) { return count > 1 ? read_often(atoi(words[1])) : 1; }
#endif
