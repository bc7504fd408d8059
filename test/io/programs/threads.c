/* SPDX-License-Identifier: MIT */
/* threads N TURNS: N threads that open, write, read, duplicate and close, each its own file, while the others get the
 * numbers that they freed; and streams. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int turns;

static void* work(void* number) {
  char name[32], bytes[16];
  snprintf(name, sizeof name, "mine%ld", (long)number);
  for (int i = 0; i < turns; i++) {
    const int fd = open(name, O_CREAT | O_RDWR, 0600);
    if (write(fd, "0123456789", 10) != 10 || pread(fd, bytes, 10, 0) != 10) abort();
    const int other = dup(fd);
    close(fd);
    if (read(other, bytes, 10) < 0) abort();
    close(other);
    FILE* stream = fopen(name, "r");
    if (fread(bytes, 1, 10, stream) != 10) abort();
    fclose(stream);
  }
  return NULL;
}

int main(int count, char** words) {
  (void)count;
  pthread_t threads[64];
  const long number = atol(words[1]);
  turns = atoi(words[2]);
  for (long i = 0; i < number; i++) pthread_create(&threads[i], NULL, work, (void*)i);
  for (long i = 0; i < number; i++) pthread_join(threads[i], NULL);
  return 0;
}
