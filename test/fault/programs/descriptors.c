/* SPDX-License-Identifier: MIT */
/* descriptors loop|range|taken: the application closes every descriptor (also those that are not its own), opens files
   in their place, and finds nothing in them afterwards but what it wrote itself. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "facts.h"
#include "work.h"

enum { kFiles = 40, kMany = 4096 };

static int listed(int* numbers) {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  for (struct dirent* entry = readdir(folder); entry != NULL && count < kMany; entry = readdir(folder)) {
    const int number = atoi(entry->d_name);
    if (number > 2 && number != dirfd(folder)) numbers[count++] = number;
  }
  closedir(folder);
  return count;
}

static void close_all(const char* how) {
  static int numbers[kMany];
  if (strcmp(how, "loop") == 0) {
    for (int i = 3; i < 65536; i++) close(i);
  } else if (strcmp(how, "range") == 0) {
    close_range(3, ~0U, 0);
  } else {
    const int count = listed(numbers);
    const int own = open("own", O_CREAT | O_TRUNC | O_RDWR, 0600);
    for (int i = 0; i < count; i++) {
      if (numbers[i] != own) dup2(own, numbers[i]);
    }
  }
}

int main(int argc, char** argv) {
  struct stat state;
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(1000);
  close_all(argv[argc - 1]);
  int files[kFiles];
  for (int i = 0; i < kFiles; i++) {
    char name[32];
    snprintf(name, sizeof name, "mine%d", i);
    files[i] = open(name, O_CREAT | O_TRUNC | O_RDWR, 0600);
    if (files[i] < 0) return 8;
  }
  for (int i = 0; i < 30000; i++) {
    char byte;
    work_one(i);
    if (pread(files[i % kFiles], &byte, 1, 0) != 0) return 1;
  }
  DFTRACER_C_FINI();
  for (int i = 0; i < kFiles; i++) {
    if (fstat(files[i], &state) != 0) return 2;
    if (state.st_size != 0) return 9; /* the tracer wrote into MY file */
  }
  if (stat("own", &state) == 0 && state.st_size != 0) return 9;
  puts("all empty");
  return 0;
}
