/* SPDX-License-Identifier: MIT */
/* removes_trace BEFORE AFTER file|directory: the traces in the log directory, or all of it, go while events come. */
#include <dirent.h>

#include "facts.h"
#include "work.h"

static void regions(int count) {
  for (int i = 0; i < count; i++) {
    DFTRACER_C_REGION_START(work);
    DFTRACER_C_REGION_END(work);
  }
}

static void clear_log(int directory_too) {
  const char* prefix = getenv("DFTRACER_LOG_FILE");
  if (prefix == NULL) return;
  char folder[4096];
  snprintf(folder, sizeof folder, "%s", prefix);
  *strrchr(folder, '/') = 0;
  DIR* dir = opendir(folder);
  struct dirent* entry;
  while (dir != NULL && (entry = readdir(dir)) != NULL) {
    if (entry->d_name[0] != '.') unlinkat(dirfd(dir), entry->d_name, 0);
  }
  if (dir != NULL) closedir(dir);
  if (directory_too) rmdir(folder);
}

int main(int argc, char** argv) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  regions(atoi(argv[1]));
  clear_log(strcmp(argv[argc - 1], "directory") == 0);
  regions(atoi(argv[2]));
  DFTRACER_C_FINI();
  puts("done");
  return 0;
}
