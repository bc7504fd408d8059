/* SPDX-License-Identifier: MIT */
/* The ways in which a program comes to use CUDA, against the stand-in driver. Usage: starts WAY [ARGUMENT] */
#include <dftracer/dftracer.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

static void use_runtime(void) {
  void* runtime = dlopen("libcudart.so.13", RTLD_NOW);
  if (runtime == NULL) exit(90);
  int (*release)(void*) = (int (*)(void*))dlsym(runtime, "cudaFree");
  if (release == NULL || release(NULL) != 0) exit(91);
}

static int mapped(const char* name) {
  char line[4352];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) found = found || strstr(line, name) != NULL;
  if (maps != NULL) fclose(maps);
  return found;
}

static void region(const char* name) { dftracer_finalize_region(dftracer_initialize_region(name, NULL, 0)); }

static void child(int how) {
  const pid_t pid = fork();
  if (pid == 0) {
    region("child");
    if (how == 3) exit(0); /* has nothing to do with CUDA */
    use_runtime();
    if (how == 1) _exit(0);
    if (how == 2) quick_exit(0);
    exit(0);
  }
  int status = -1;
  if (waitpid(pid, &status, 0) != pid || status != 0) exit(92);
}

int main(int argc, char** argv) {
  const char* way = argv[1];
  if (strcmp(way, "cuda-first") == 0) use_runtime();
  if (strcmp(way, "no-bind") == 0) {
    DFTRACER_C_INIT_NO_BIND(NULL, NULL, NULL);
  } else if (strcmp(way, "no-init") != 0) {
    DFTRACER_C_INIT(NULL, NULL, NULL);
  }
  region("before");
  if (strcmp(way, "probe") == 0) { /* asks whether the driver is there, and must not bring it */
    const int found = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != NULL || mapped("libcuda");
    fact("driver", found);
    return 0;
  }
  if (strcmp(way, "dependency") == 0) {
    void* library = dlopen(argv[2], RTLD_NOW); /* brings the driver with it */
    int (*work)(void) = library != NULL ? (int (*)(void))dlsym(library, "library_work") : NULL;
    if (work == NULL || work() != 0) return 93;
  } else {
    use_runtime();
  }
  if (strcmp(way, "no-bind") == 0) {
    for (int i = 0; i < 2000 && !mapped("libcupti"); ++i) {
      region("between");
      usleep(5000);
    }
  }
  if (strcmp(way, "fork") == 0) {
    for (int how = 0; how < 4; ++how) child(how);
    use_runtime();
  }
  if (strcmp(way, "exec") == 0) {
    execl("/nowhere/at/all", "nothing", NULL);
    execl("/bin/true", "true", NULL);
    return 94;
  }
  if (strcmp(way, "again") == 0) {
    DFTRACER_C_FINI();
    DFTRACER_C_INIT(NULL, NULL, NULL);
  }
  if (strcmp(way, "turns") == 0) { /* another client of CUPTI, within which yet another runs */
    fact("free", dftracer_gpu_profiler_begins("mine"));
    fact("nested", dftracer_gpu_profiler_begins(NULL));
    dftracer_gpu_profiler_ends();
    region("meanwhile");
    for (int i = 0; i < 2; ++i) dftracer_gpu_profiler_ends(); /* once too often */
  }
  fact("cupti", mapped("libcupti"));
  region("after");
  if (strcmp(way, "_exit") == 0) _exit(0);
  if (strcmp(way, "no-fini") != 0) DFTRACER_C_FINI();
  return 0;
}
